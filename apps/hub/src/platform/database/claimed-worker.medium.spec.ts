import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';
import { ClaimedWorker } from './claimed-worker.ts';
import { WAIT } from '../../../test/wait.ts';

let hub: TestHub;
let other: TestHub;
beforeAll(async () => {
  const databaseUrl = await createTestDatabase();
  hub = await startTestHub(databaseUrl);
  other = await startTestHub(databaseUrl, { like: hub });
});
afterAll(async () => {
  await other.close();
  await hub.close();
});

const log = pino({ level: 'silent' });

/** Work that lasts until it is let go. */
function startLongWork(): { readonly worker: ClaimedWorker; readonly pid: Promise<number>; letGo: () => void } {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let begun: (pid: number) => void = () => undefined;
  const pid = new Promise<number>((resolve) => (begun = resolve));
  const work = async (tx: Parameters<ConstructorParameters<typeof ClaimedWorker>[1]['work']>[0]): Promise<void> => {
    const [row] = await tx.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
    begun(row?.pid ?? 0);
    await held;
  };
  const worker = new ClaimedWorker(hub.runtime.dataSource, { name: 'outbox', intervalMs: 60_000, work }, log);
  return { worker, pid, letGo: () => letGo() };
}

const another = (): ClaimedWorker =>
  new ClaimedWorker(other.runtime.dataSource, { name: 'outbox', intervalMs: 60_000, work: async () => undefined }, log);

describe('a claimed worker', () => {
  it('works in one replica at a time', async () => {
    const { worker, pid, letGo } = startLongWork();
    const running = worker.tick();
    await pid;
    expect(await another().tick()).toBe(false);
    letGo();
    expect(await running).toBe(true);
    expect(await another().tick()).toBe(true);
  });

  it('loses its claim with its connection, as when its replica is killed', async () => {
    const { worker, pid, letGo } = startLongWork();
    const running = worker.tick().catch((error: unknown) => error);
    await other.runtime.dataSource.query('SELECT pg_terminate_backend($1, 5000)', [await pid]);
    expect(await another().tick()).toBe(true);
    letGo();
    expect(await running).toBeInstanceOf(Error);
  });

  it('works again at once when it is nudged, also while it works', async () => {
    let ticks = 0;
    const work = async (): Promise<void> => {
      ticks += 1;
      if (ticks === 1) worker.nudge();
      await Promise.resolve();
    };
    const worker: ClaimedWorker = new ClaimedWorker(
      hub.runtime.dataSource,
      { name: 'outbox', intervalMs: 3_600_000, work },
      log,
    );
    worker.start();
    expect(ticks).toBe(0);
    worker.nudge();
    await expect.poll(() => ticks, WAIT).toBe(2);
    await worker.stop();
  });

  it('tries again soon after a failure, however long its interval is', async () => {
    let ticks = 0;
    const work = async (): Promise<void> => {
      ticks += 1;
      await Promise.resolve();
      if (ticks === 1) throw new Error('the database is away');
    };
    const worker = new ClaimedWorker(hub.runtime.dataSource, { name: 'outbox', intervalMs: 3_600_000, work }, log);
    worker.start();
    worker.nudge();
    await expect.poll(() => ticks, WAIT).toBe(2);
    await worker.stop();
  });

  it('comes back when it said that it is due', async () => {
    let ticks = 0;
    const work = async (): Promise<number | undefined> => {
      ticks += 1;
      await Promise.resolve();
      return ticks < 3 ? 1 : undefined;
    };
    const worker = new ClaimedWorker(hub.runtime.dataSource, { name: 'outbox', intervalMs: 3_600_000, work }, log);
    worker.start();
    worker.nudge();
    await expect.poll(() => ticks, WAIT).toBe(3);
    await worker.stop();
  });
});
