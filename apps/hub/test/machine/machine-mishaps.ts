/**
 * Things that go wrong in one certain order, which single steps by chance hardly ever meet: a delete that waits in a dump which is
 * put back, one that was carried out unheard before its object was put back, and one whose object was put back while its agent
 * was away: before it was asked for, before it was approved, or after both.
 */
import type { MachineRun } from './machine-run.ts';
import type { HubRow } from './machine-user.ts';

const MOST_FRAMES = 20;

/** What the hub has to say now is worked off and acked, as far as faults allow. */
export async function deliverAll(run: MachineRun): Promise<void> {
  if (run.connection !== undefined) await run.hub.poll(run.connection);
  for (let frames = 0; frames < MOST_FRAMES; frames += 1) {
    const frame = (await run.deliverToAgent()) || (await run.deliverToHub());
    if (frame === false) return;
    if (!frame.startsWith('Heartbeat')) run.note(`  ${frame}`);
  }
}

/** One that is there, and whose delete nobody has asked for. */
async function pickLive(run: MachineRun): Promise<HubRow | undefined> {
  const rows = (await run.user.rows()).filter((row) => row.deletion === null && row.state === 'APPLIED');
  return run.random.pick(rows);
}

export async function putBackPending(run: MachineRun): Promise<string | false> {
  const row = await pickLive(run);
  if (row === undefined || !run.member.synced) return false;
  await run.cut();
  await run.user.remove(row, 'DELETE', run.ledger);
  if (run.random.chance(0.5)) await run.user.approve(run.ledger, true);
  await run.hub.dump();
  await run.restoreHub(true);
  await run.connect();
  await deliverAll(run);
  return `${row.name} ${row.hubUid.slice(-4)}`;
}

export async function carryOutUnheard(run: MachineRun): Promise<string | false> {
  const row = await pickLive(run);
  if (row === undefined || run.connection === undefined || !run.member.synced) return false;
  run.member.backUp();
  await run.user.remove(row, 'DELETE', run.ledger);
  if (run.random.chance(0.5)) await run.user.approve(run.ledger, true);
  await run.hub.poll(run.connection);
  for (let frame; (frame = await run.deliverToAgent()) !== false;) run.note(`  ${frame}`);
  run.member.operate();
  await run.cut();
  await run.agent.settled();
  run.member.restoreObjects();
  run.member.relist();
  await run.connect();
  await deliverAll(run);
  return `${row.name} ${row.hubUid.slice(-4)}`;
}

export async function exchangeWhileAway(run: MachineRun): Promise<string | false> {
  const row = await pickLive(run);
  if (row === undefined || !run.member.synced) return false;
  await run.cut();
  await run.agent.settled();
  const ask = (): Promise<void> => run.user.remove(row, 'DELETE', run.ledger);
  const approve = (): Promise<boolean> => run.user.approve(run.ledger, true);
  const exchange = (): void => void run.member.replaceByHand(row.name);
  const orders = [
    [ask, exchange],
    [ask, approve, exchange],
    [ask, exchange, approve],
    [exchange, ask],
  ] as const;
  const order = run.random.integer(orders.length);
  for (const act of orders[order] ?? []) await act();
  run.member.relist();
  await run.connect();
  await deliverAll(run);
  return `${row.name} ${row.hubUid.slice(-4)}, order ${order}`;
}
