/**
 * What the hub keeps for one agent, and what of a batch fits. Decided from what is stored and what comes, never from how the
 * agent behaved in this session, so that it holds over reconnects and replicas. Without it one agent with a valid key fills
 * the database of the whole fleet. Objects that the hub itself wants are not counted here: their number is the hub's.
 */
export interface AgentLimits {
  /** RedisClusters of its member cluster that this hub does not manage. */
  readonly localObjects: number;
  readonly localBytes: number;
  readonly eventsPerMinute: number;
  readonly eventsKept: number;
}

export const AGENT_LIMITS: AgentLimits = {
  localObjects: 5_000,
  localBytes: 20 * 2 ** 20,
  eventsPerMinute: 200,
  eventsKept: 20_000,
};

export interface LocalUsage {
  readonly objects: number;
  readonly bytes: number;
}

export interface IncomingObject {
  readonly key: string;
  readonly bytes: number;
  /** Of the row that it takes the place of; undefined: there is none. */
  readonly storedBytes: number | undefined;
}

type LocalLimits = Pick<AgentLimits, 'localObjects' | 'localBytes'>;

/** What there would be with all of it. */
const sumUp = (used: LocalUsage, incoming: readonly IncomingObject[]): LocalUsage => ({
  objects: used.objects + incoming.filter(({ storedBytes }) => storedBytes === undefined).length,
  bytes: used.bytes + incoming.reduce((sum, { bytes, storedBytes = 0 }) => sum + bytes - storedBytes, 0),
});

/** How much is too much, were all of it stored: what has to go first, of what the agent told in earlier sessions only. */
export function findExcess(used: LocalUsage, incoming: readonly IncomingObject[], limits: LocalLimits): LocalUsage {
  const all = sumUp(used, incoming);
  return {
    objects: Math.max(0, all.objects - limits.localObjects),
    bytes: Math.max(0, all.bytes - limits.localBytes),
  };
}

/** Keys of those that fit, in their order. One that does not fit keeps nobody behind it from fitting. */
export function chooseFitting(
  used: LocalUsage,
  incoming: readonly IncomingObject[],
  limits: LocalLimits,
): ReadonlySet<string> {
  const fitting = new Set<string>();
  let { objects, bytes } = used;
  for (const one of incoming) {
    const more = { objects: one.storedBytes === undefined ? 1 : 0, bytes: one.bytes - (one.storedBytes ?? 0) };
    // What makes nothing more always fits: an agent that is over must be able to come back under.
    const fitsCount = more.objects === 0 || objects + more.objects <= limits.localObjects;
    const fitsBytes = more.bytes <= 0 || bytes + more.bytes <= limits.localBytes;
    if (!fitsCount || !fitsBytes) continue;
    objects += more.objects;
    bytes += more.bytes;
    fitting.add(one.key);
  }
  return fitting;
}
