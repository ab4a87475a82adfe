/**
 * Which waiting batches go into the next commit: the oldest of each agent, then the second of each, until it is full. An
 * agent that floods the hub waits for itself alone; in the order of arrival it would fill every commit (03 rule 12). The
 * batches of one agent keep their order. The first is taken whatever its size.
 */
interface Batch {
  readonly entry: {
    readonly session: { readonly agentId: string };
    readonly batch: { readonly items: { length: number }; readonly guests?: { length: number } };
  };
}

/** What a batch costs a commit: numbers of guests are looked up and written as items are. */
export const sizeOf = ({ entry: { batch } }: Batch): number => batch.items.length + (batch.guests?.length ?? 0);

export function takeInTurn<T extends Batch>(waiting: readonly T[], maxItems: number): T[] {
  const taken: T[] = [];
  let items = 0;
  for (const round of inRounds(waiting)) {
    for (const one of round) {
      items += sizeOf(one);
      if (taken.length > 0 && items > maxItems) return taken;
      taken.push(one);
    }
  }
  return taken;
}

/** Round n holds the n-th batch of each agent. */
function inRounds<T extends Batch>(waiting: readonly T[]): T[][] {
  const turns = new Map<string, number>();
  const rounds: T[][] = [];
  for (const one of waiting) {
    const { agentId } = one.entry.session;
    const turn = turns.get(agentId) ?? 0;
    turns.set(agentId, turn + 1);
    (rounds[turn] ??= []).push(one);
  }
  return rounds;
}
