import { type Outcome, refuse, succeed } from '#domain';
import type { Drift } from './drift.rules.ts';

/** The drifted fields that a caller means: all, or those of the given paths, each of which must be drifted. */
export function selectDrift(drift: readonly Drift[], paths: readonly string[] | undefined): Outcome<readonly Drift[]> {
  if (drift.length === 0) return refuse('NOT_DRIFTED', 'No field of this object has drifted.', ['input', 'id']);
  if (paths === undefined) return succeed(drift);
  const known = new Set(drift.map((each) => each.path));
  const wrong = paths.filter((path) => !known.has(path));
  if (paths.length === 0 || wrong.length > 0) {
    const names = wrong.length > 0 ? `Not drifted: ${wrong.join(', ')}.` : 'Name at least one field.';
    return refuse('NOT_DRIFTED', `${names} Drifted are: ${[...known].join(', ')}.`, ['input', 'paths']);
  }
  return succeed(drift.filter((each) => paths.includes(each.path)));
}
