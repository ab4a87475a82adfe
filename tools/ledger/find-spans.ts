export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** Moments further apart than this belong to two spans. */
const APART_MS = 1_000;

/** Moments in groups: what was lost together was written together. */
export function findSpans(momentsMs: readonly number[]): Span[] {
  const spans: Span[] = [];
  for (const ms of [...momentsMs].sort((left, right) => left - right)) {
    const last = spans.at(-1);
    if (last && ms - last.toMs <= APART_MS) spans[spans.length - 1] = { ...last, toMs: ms, count: last.count + 1 };
    else spans.push({ fromMs: ms, toMs: ms, count: 1 });
  }
  return spans;
}
