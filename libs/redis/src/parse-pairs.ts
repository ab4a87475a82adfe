import { setOwnValue } from '#domain';

/** Field-value pairs, as CONFIG GET and SENTINEL MASTER answer them: a flat array in RESP2, a map in RESP3. */
export type Pairs = Readonly<Record<string, string>>;

/** Never throws: what is neither a list nor a map is no pairs; an odd last name is left out. */
export const parsePairs = (reply: unknown): Pairs => {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  if (Array.isArray(reply)) {
    for (let index = 0; index + 1 < reply.length; index += 2) {
      const name: unknown = reply[index];
      if (typeof name === 'string') setOwnValue(fields, name, textOf(reply[index + 1]));
    }
  } else if (reply instanceof Map) {
    for (const [name, value] of reply) if (typeof name === 'string') setOwnValue(fields, name, textOf(value));
  } else if (typeof reply === 'object' && reply !== null) {
    for (const [name, value] of Object.entries(reply)) setOwnValue(fields, name, textOf(value));
  }
  return fields;
};

/** A list of pairs, as SENTINEL REPLICAS and SENTINEL SENTINELS answer. */
export const parsePairsList = (reply: unknown): readonly Pairs[] =>
  Array.isArray(reply) ? reply.map((entry) => parsePairs(entry)) : [];

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};
