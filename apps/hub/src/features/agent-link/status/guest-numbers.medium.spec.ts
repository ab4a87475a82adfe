/** Numbers of objects of other agents: who may tell them, and whom those who may not can disturb. */
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Enrolled, enrolAgent, openSession, revoke, want } from '../../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { systemClock } from '../../../platform/lifecycle/time-and-ids.ts';
import { RedisClustersRepository } from '../../redis-clusters/redis-clusters.repository.ts';
import type { StatusEntry } from './status-entry.ts';
import { StatusRepository } from './status.repository.ts';

type Numbers = Readonly<Record<string, number>>;

let hub: TestHub;
let dataSource: DataSource;
let own: Enrolled;
let operating: Enrolled;
let stranger: Enrolled;
const sessionNos = new Map<string, number>();

beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
  ({ dataSource } = hub.runtime);
  [own, operating, stranger] = [await enrolAgent(hub), await enrolAgent(hub), await enrolAgent(hub)];
  for (const enrolled of [own, operating, stranger]) {
    const { agent, welcome } = await openSession(hub, enrolled);
    sessionNos.set(enrolled.agentId, welcome.sessionNo);
    agent.close();
  }
  await dataSource.query(
    `UPDATE agent SET member_cluster_id = $2, scope_kind = 'NAMESPACE', scope_namespace = 'default' WHERE id = $1`,
    [operating.agentId, own.memberClusterId],
  );
});
afterAll(() => hub.close());

const counters = new Map<string, number>();
function tell({ agentId }: Enrolled, guests: StatusEntry['batch']['guests'] & object): StatusEntry {
  const counter = (counters.get(agentId) ?? -1) + 1;
  counters.set(agentId, counter);
  return { session: { agentId, sessionNo: sessionNos.get(agentId) ?? 0 }, batch: { counter, items: [], guests } };
}
const commit = (...entries: StatusEntry[]): Promise<unknown> =>
  new StatusRepository(dataSource, systemClock).commit(entries);

let objects = 0;
async function createObject(): Promise<{ readonly hubUid: string; readonly namespace: string; readonly name: string }> {
  const name = `cache-${(objects += 1)}`;
  const { hubUid } = await want(hub, own, name);
  await dataSource.query(
    `INSERT INTO resource_status (hub_uid, session_no, counter, status_hash, received_at, numbers)
     VALUES ($1, 0, 0, '', now(), '{"keys": 1}')
     ON CONFLICT (hub_uid) DO UPDATE SET numbers = excluded.numbers`,
    [hubUid],
  );
  return { hubUid, namespace: 'default', name };
}
async function shown(hubUid: string): Promise<Numbers | undefined> {
  const [row] = await new RedisClustersRepository(dataSource).readStatuses([hubUid]);
  return row?.numbers;
}
/** With a time of that age: the hub's own look at the fleet must find the same. */
const AGES = { FRESH: '-1 hour', LATE: '60 seconds', UNKNOWN: '1 hour' } as const;
const setVerdict = ({ agentId }: Enrolled, verdict: keyof typeof AGES): Promise<unknown> =>
  dataSource.query('UPDATE agent_seen SET verdict = $2, seen_at = now() - $3::interval WHERE agent_id = $1', [
    agentId,
    verdict,
    AGES[verdict],
  ]);
const setState = ({ agentId }: Enrolled, state: string): Promise<unknown> =>
  dataSource.query('UPDATE agent SET state = $2 WHERE id = $1', [agentId, state]);
const move = ({ agentId }: Enrolled, memberClusterId: string): Promise<unknown> =>
  dataSource.query('UPDATE agent SET member_cluster_id = $2 WHERE id = $1', [agentId, memberClusterId]);

describe('numbers of an object of another agent', () => {
  it('are those of the agent that operates it, whoever else tells some in the same commit', async () => {
    const object = await createObject();
    const elsewhere = tell(stranger, [{ ...object, numbers: { keys: 666 } }]);
    await commit(tell(operating, [{ ...object, numbers: { keys: 2 } }]), elsewhere);
    expect(await shown(object.hubUid)).toEqual({ keys: 2 });
    await commit(tell(operating, [{ ...object, numbers: { keys: 3 } }]), tell(stranger, [{ ...object, numbers: {} }]));
    expect(await shown(object.hubUid)).toEqual({ keys: 3 });
    await commit(tell(operating, [{ ...object, numbers: { keys: 4 } }]), tell(operating, [{ ...object, numbers: {} }]));
    expect(await shown(object.hubUid)).toEqual({});
  });

  it('are the last word of two agents that may both tell them', async () => {
    const object = await createObject();
    // Of the object's own agent, which was revoked, another of scope CLUSTER has taken the place.
    await setState(own, 'REVOKED');
    await move(stranger, own.memberClusterId);
    await commit(
      tell(operating, [{ ...object, numbers: { keys: 2 } }]),
      tell(stranger, [{ ...object, numbers: { keys: 5 } }]),
    );
    expect(await shown(object.hubUid)).toEqual({ keys: 5 });
    await commit(tell(stranger, [{ ...object, numbers: {} }]), tell(operating, [{ ...object, numbers: { keys: 6 } }]));
    expect(await shown(object.hubUid)).toEqual({ keys: 6 });
    await move(stranger, stranger.memberClusterId);
    await setState(own, 'ACTIVE');
  });

  it('lock no row for an agent that may not tell them', async () => {
    const object = await createObject();
    await dataSource.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM resource_status WHERE hub_uid = $1 FOR UPDATE', [object.hubUid]);
      // Waits for this transaction for ever, should it want the row.
      await commit(
        tell(stranger, [
          { ...object, numbers: { keys: 666 } },
          { ...object, hubUid: randomUUID(), numbers: {} },
        ]),
        tell(operating, [{ ...object, name: 'of-another-name', numbers: { keys: 7 } }]),
      );
    });
    expect(await shown(object.hubUid)).toEqual({ keys: 1 });
  });

  it('are shown while the agent that told them is heard, and never of one that was revoked', async () => {
    const object = await createObject();
    await setVerdict(own, 'FRESH');
    await setVerdict(operating, 'FRESH');
    await commit(tell(operating, [{ ...object, numbers: { keys: 8 } }]));
    expect(await shown(object.hubUid)).toEqual({ keys: 8 });
    for (const verdict of ['LATE', 'UNKNOWN'] as const) {
      await setVerdict(operating, verdict);
      expect(await shown(object.hubUid)).toEqual({});
    }
    await setVerdict(operating, 'FRESH');
    expect(await shown(object.hubUid)).toEqual({ keys: 8 });
    await revoke(hub, operating.agentId);
    expect(await shown(object.hubUid)).toEqual({});
  });
});
