/** What chaos does next, from a seed: the same seed gives the same faults at the same pods in the same order. */
export const FAULTS = [
  'kill the server process of the primary',
  'kill the server process of a replica',
  'delete the pod of the primary',
  'delete the pod of a replica',
  'delete a sentinel pod',
  'stop the server process of the primary for a while',
  'stop the server process of a replica for a while',
  'cut a node off for a while',
  'delete the primary Service',
  'delete the connection Secret',
  'delete a ConfigMap',
  'delete the disruption budget',
  'delete the agent pod',
  'restart the API server',
  'ask for a switchover',
  'ask for a rolling restart',
] as const;
/** After these asynchronous replication may have lost what only the primary had: 12 s of it at most (max-lag and 2 s). */
export const LOSSY: ReadonlySet<string> = new Set<Fault>([
  'kill the server process of the primary',
  'delete the pod of the primary',
  'stop the server process of the primary for a while',
  'cut a node off for a while',
]);

export type Fault = (typeof FAULTS)[number];

/** Numbers in [0, 1) from a 32-bit seed: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface ChosenFault {
  readonly fault: Fault;
  /** Which of the candidates, in [0, 1). */
  readonly pick: number;
  /** Calm before the next fault. */
  readonly pauseMs: number;
}

export function chooseFault(random: () => number): ChosenFault {
  const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? FAULTS[0];
  return { fault, pick: random(), pauseMs: 4_000 + Math.floor(random() * 12_000) };
}
