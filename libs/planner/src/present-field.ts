/** An object with the field, or without it when the value is undefined; for spreading under exact optional types. */
export const presentField = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
