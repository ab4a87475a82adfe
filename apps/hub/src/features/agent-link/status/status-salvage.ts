/**
 * Stores what can be stored of a batch that cannot be stored as a whole: halves it until the items that fail are alone, each of
 * which has failed twice by then. What such a batch did not name is not known to be gone, so the end of a full resend is not
 * told on. Decides nothing about what becomes of the items that fail.
 */
import type { StatusItem } from '#protocol';

import { isAboutContent } from '../../../platform/database/sql-state.ts';
import type { StatusEntry, StatusVerdicts, StatusWriter } from './status-entry.ts';

/** For one batch: enough to find half a dozen items, few enough that a batch full of them holds up nobody. */
const MAX_COMMITS = 100;

export interface Salvage {
  /** Items that could not be stored, with what the database said of them. */
  readonly failed: readonly { readonly items: readonly StatusItem[]; readonly error: unknown }[];
  readonly stored: number;
  /** Of the commits that passed. */
  readonly verdicts: readonly StatusVerdicts[];
}

interface Progress {
  commits: number;
  stored: number;
  readonly failed: Salvage['failed'][number][];
  readonly verdicts: StatusVerdicts[];
}

/** `error`: what the batch failed of as a whole. Throws what is not about it: an outage, a lock of others. */
export async function salvage(
  writer: Pick<StatusWriter, 'commit'>,
  entry: StatusEntry,
  error: unknown,
): Promise<Salvage> {
  const progress: Progress = { commits: MAX_COMMITS, stored: 0, failed: [], verdicts: [] };
  const { items } = entry.batch;
  if (items.length === 1) await storePart(writer, partOf(entry, items), { error, progress });
  else await storeHalves(writer, entry, { error, progress });
  return progress;
}

const partOf = (
  { session, batch: { counter, inventory } }: StatusEntry,
  items: readonly StatusItem[],
): StatusEntry => ({
  session,
  batch: { counter, items, ...(inventory === undefined ? {} : { inventory }) },
});

interface Failing {
  readonly error: unknown;
  readonly progress: Progress;
}

async function storeHalves(writer: Pick<StatusWriter, 'commit'>, entry: StatusEntry, failing: Failing): Promise<void> {
  const { items } = entry.batch;
  const middle = Math.ceil(items.length / 2);
  for (const half of [items.slice(0, middle), items.slice(middle)]) {
    if (half.length > 0) await storePart(writer, partOf(entry, half), failing);
  }
}

async function storePart(
  writer: Pick<StatusWriter, 'commit'>,
  part: StatusEntry,
  { error, progress }: Failing,
): Promise<void> {
  const { items } = part.batch;
  if (progress.commits <= 0) return void progress.failed.push({ items, error });
  progress.commits -= 1;
  try {
    progress.verdicts.push(await writer.commit([part]));
    progress.stored += items.length;
  } catch (again) {
    if (!isAboutContent(again)) throw again;
    if (items.length === 1) progress.failed.push({ items, error: again });
    else await storeHalves(writer, part, { error: again, progress });
  }
}
