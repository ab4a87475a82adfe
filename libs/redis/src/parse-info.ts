/** INFO's text as a flat record: `name:value` lines; section headings and empty lines are left out. */
import { ownValue, setOwnValue } from '#domain';

export type InfoFields = Readonly<Record<string, string>>;

/** Never throws: a line without a colon is skipped, the last of two equal names wins. */
export const parseInfo = (text: string): InfoFields => {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of text.split('\n')) {
    const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line;
    const colon = trimmed.indexOf(':');
    if (trimmed.startsWith('#') || colon <= 0) continue;
    setOwnValue(fields, trimmed.slice(0, colon), trimmed.slice(colon + 1));
  }
  return fields;
};

/** A whole number of the fields, or the fallback when it is absent or not a number. */
export const readInfoNumber = (fields: InfoFields, name: string, fallback: number): number => {
  const text = ownValue(fields, name);
  if (text === undefined || !/^-?\d+$/.test(text)) return fallback;
  return Number(text);
};

/** Keys of all databases together, from lines like `db0:keys=12,expires=0,avg_ttl=0`. */
export const countKeys = (fields: InfoFields): number => {
  let keys = 0;
  for (const [name, value] of Object.entries(fields)) {
    if (!/^db\d+$/.test(name)) continue;
    const match = /(?:^|,)keys=(\d+)(?:,|$)/.exec(value);
    keys += match?.[1] === undefined ? 0 : Number(match[1]);
  }
  return keys;
};
