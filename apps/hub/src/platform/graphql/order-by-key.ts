/** Rows in the order of the keys a DataLoader asked for; undefined where there is none. */
export function orderByKey<K, Row>(
  keys: readonly K[],
  rows: readonly Row[],
  keyOf: (row: Row) => K,
): readonly (Row | undefined)[] {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return keys.map((key) => byKey.get(key));
}
