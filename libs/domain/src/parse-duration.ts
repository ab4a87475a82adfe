import { ownValue } from './own-value.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `500ms`, `5s`, `1m`, `2h` and sums such as `1m30s`, in milliseconds; undefined for anything else. */
export const parseDurationMs = (text: string): number | undefined => {
  if (!/^(?:\d+(?:ms|s|m|h))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)(ms|s|m|h)/g)) {
    totalMs += Number(amount) * (ownValue(UNIT_MS, unit ?? '') ?? 0);
  }
  return totalMs;
};
