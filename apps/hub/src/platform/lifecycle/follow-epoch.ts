/**
 * Keeps the epoch that this replica tells equal to the database's. It learns of a change by itself, when the database is
 * found to be another one than before, and from the row that holds the epoch, which another replica or a person who
 * restored a dump has changed. A replica that told an old epoch would let agents go on as if nothing had happened.
 */
import type { Logger } from 'pino';
import type { DataSource, EntityManager } from 'typeorm';

import { type DatabaseLineage, type HubIdentity, READ_LINEAGE_AND_EPOCH } from '../database/hub-identity.ts';
import type { LineageGuard } from '../database/lineage-guard.ts';
import { workOnLineage } from '../database/work-on-lineage.ts';

const LOOK_MS = 2_000;

interface Following {
  readonly dataSource: DataSource;
  readonly guard: LineageGuard;
  readonly identity: HubIdentity;
  readonly log: Logger;
  /** Told after `identity` has a new epoch. */
  readonly listeners: ReadonlySet<() => void>;
  /** Reads the epoch; makes a new one when it is still `leave`, or one of before it: that database is gone. */
  readonly leaveEpoch: (manager: EntityManager, leave: HubIdentity) => Promise<HubIdentity>;
  /** A connection of the pool leads to a standby: what is read there is old, and nothing can be written. */
  readonly onStandby: () => void;
  /** One leads to another database than is known: to the one before, or to a standby that was promoted meanwhile. */
  readonly onStray: () => void;
}

type Found = DatabaseLineage & { readonly hubEpoch: string | null; readonly madeAt: Date | null };

/** Returns the way to stop it. */
export function followEpoch(following: Following): () => void {
  const { dataSource, guard, identity, log, listeners, leaveEpoch, onStandby, onStray } = following;
  const adopt = ({ hubEpoch, madeAt }: HubIdentity): void => {
    if (hubEpoch === identity.hubEpoch) return;
    log.warn({ before: identity.hubEpoch, hubEpoch }, 'the database is another one than before: the hub epoch changes');
    Object.assign(identity, { hubEpoch, madeAt });
    for (const listener of listeners) listener();
  };
  guard.onChange(async (lineage) => {
    const leave = { ...identity };
    try {
      adopt(await workOnLineage(dataSource, lineage, (manager) => leaveEpoch(manager, leave)));
      return true;
    } catch (error) {
      const what = 'the lineage of the database could not be followed; it is tried with the next connection';
      log.error({ err: error }, what);
      return false;
    }
  });
  const look = async (): Promise<void> => {
    const [asked, told] = [guard.known, identity.hubEpoch];
    const [found] = await dataSource.query<Found[]>(READ_LINEAGE_AND_EPOCH);
    if (!found?.hubEpoch) return;
    if (found.walBytes === null) onStandby();
    // New connections decide which of the two it is: what is open would be asked for ever.
    if (!guard.note(found, asked)) return onStray();
    // A change that was just found is followed by itself.
    if (told === identity.hubEpoch) adopt({ hubEpoch: found.hubEpoch, madeAt: found.madeAt ?? identity.madeAt });
  };
  // A database that is away is told by others.
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS).unref();
  return () => clearInterval(timer);
}
