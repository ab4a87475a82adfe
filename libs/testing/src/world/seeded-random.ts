/** Random numbers that a seed repeats (mulberry32, public domain). */
export interface SeededRandom {
  /** In [0, 1). */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number from 0 to `below` - 1. */
  integer(below: number): number;
  pick<T>(list: readonly T[]): T | undefined;
}

export const makeRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number): number => Math.floor(next() * below);
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (list) => list[integer(list.length)],
  };
};
