/**
 * The reference for a run at rest: what the hub must say of each object follows from what it wants, what is in the member
 * cluster, and what the agent remembers; nothing of how it came to be may matter.
 */
import { ANNOTATION } from '#domain';
import type { RedisClusterObject } from '#domain';
import { isOwnedBy } from './machine-ledger.ts';
import { hubUidOf } from './machine-member.ts';
import type { MachineRun } from './machine-run.ts';
import type { HubRow } from './machine-user.ts';

/** Everything that is not as it must be, one line each. */
export async function compareWithReference(run: MachineRun): Promise<readonly string[]> {
  const { head, rows } = await run.user.look();
  const { appliedRevision, hubEpoch } = run.agent.state;
  const live = new Map(run.member.live().map((object) => [object.metadata.name, object]));
  const found: string[] = [];
  if (hubEpoch !== run.hub.epoch) found.push('the agent is in another epoch');
  if (appliedRevision !== head.revision || head.ackedRevision !== head.revision)
    found.push(`revisions differ: applied ${appliedRevision}, acked ${head.ackedRevision}, wanted ${head.revision}`);
  if (run.agent.digest !== head.digest) found.push('the digests differ');
  if (head.inventoryNeeded) found.push('a comparison is still owed');
  for (const row of rows) {
    const expected = expectState(run, row, live.get(row.name));
    const told = [row.state, row.code].filter(Boolean).join(' ');
    if (!expected.includes(told))
      found.push(`${row.name} (${row.hubUid}) is ${told} in place of ${expected.join(' or ')}`);
  }
  return [...found, ...findUnexplained(run, rows, live.values())];
}

/** `STATE CODE`, one or more. */
function expectState(run: MachineRun, row: HubRow, live: RedisClusterObject | undefined): readonly string[] {
  const isOwn = live !== undefined && hubUidOf(live) === row.hubUid;
  if (row.deletion !== null) return ['gone'];
  if (isOwn && row.code === 'GENERATION_AHEAD') return expectHeld(row, live);
  if (run.agent.state.tombstones.has(row.hubUid)) return ['REJECTED TOMBSTONED'];
  if (isOwn) return expectHeld(row, live);
  // When another object is in its place, whether it was told before or after that is chance.
  const deletedLocally = row.createAllowed ? [] : ['DELETED_LOCALLY DELETED_LOCALLY'];
  if (live === undefined) return row.createAllowed ? ['made'] : deletedLocally;
  return [expectForeign(run, row, hubUidOf(live)), ...deletedLocally];
}

function expectForeign(run: MachineRun, { adopt }: HubRow, other: string | undefined): string {
  if (other === undefined) return adopt ? 'adopted' : 'REJECTED ALREADY_EXISTS';
  return adopt && run.agent.state.unclaimed.has(other) ? 'adopted' : 'WAITING NAME_TAKEN';
}

function expectHeld(row: HubRow, live: RedisClusterObject): readonly string[] {
  const annotations = live.metadata.annotations ?? {};
  const generation = Number(annotations[ANNOTATION.hubGeneration]);
  if (generation < row.hubGeneration)
    return [`written; generation ${generation} is there in place of ${row.hubGeneration}`];
  if (generation > row.hubGeneration || annotations[ANNOTATION.specHash] !== row.specHash)
    return ['WAITING GENERATION_AHEAD'];
  return isOwnedBy('kubectl-create', live) || isOwnedBy('kubectl-edit', live) ? ['APPLIED', 'CONFLICT'] : ['APPLIED'];
}

/** What carries a hubUid that the hub does not want must be UNCLAIMED. */
function findUnexplained(run: MachineRun, rows: readonly HubRow[], live: Iterable<RedisClusterObject>): string[] {
  const wanted = new Set(rows.map((row) => row.hubUid));
  const { unclaimed, tombstones } = run.agent.state;
  return [...live].flatMap((object) => {
    const hubUid = hubUidOf(object);
    if (hubUid === undefined || wanted.has(hubUid) || unclaimed.has(hubUid) || tombstones.has(hubUid)) return [];
    return [`${object.metadata.name} (${hubUid}) is not the hub's and not UNCLAIMED`];
  });
}
