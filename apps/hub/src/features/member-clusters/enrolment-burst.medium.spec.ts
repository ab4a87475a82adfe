import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { approve, enrol, serviceOf } from '../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';
import { createIdentity, TestAgent } from '../../../test/test-agent.ts';

const AGENTS = 200;

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

/** Comes again when it is turned away, as an agent does. */
async function connect(identity: ReturnType<typeof createIdentity>): Promise<TestAgent> {
  return TestAgent.connect(hub, identity).catch(() => TestAgent.connect(hub, identity));
}

describe('enrolment', () => {
  it('of two hundred agents at once queues and succeeds, approval included', async () => {
    const made = await Promise.all(Array.from({ length: AGENTS }, () => enrol(hub)));
    const agents = await Promise.all(made.map(() => connect(createIdentity())));
    for (const [index, agent] of agents.entries()) agent.enrol(made[index]?.token ?? '');
    await Promise.all(agents.map((agent) => agent.next('EnrolPending', 20_000)));
    await Promise.all(made.map(({ agentId }) => approve(hub, agentId)));
    const told = await Promise.all(agents.map((agent) => agent.next('Enrolled', 20_000)));
    expect(told.map(({ agentId }) => agentId)).toEqual(made.map(({ agentId }) => agentId));
    for (const agent of agents) agent.close();
  });

  it('of one Kubernetes cluster twice, approved at once, gives one of them and refuses the other', async () => {
    const twins = await Promise.all([enrol(hub), enrol(hub)]);
    for (const { token } of twins) {
      const agent = await TestAgent.connect(hub, createIdentity('kubeSystemUid:the-same'));
      agent.enrol(token);
      await agent.next('EnrolPending');
      agent.close();
    }
    const actor = { principal: 'test' };
    const outcomes = await Promise.all(
      twins.map(({ agentId }) =>
        hub.runtime.dataSource.transaction((tx) =>
          serviceOf(hub).approveAgent(tx, { input: { agentId }, actor, nowMs: Date.now() }),
        ),
      ),
    );
    expect(outcomes.filter((one) => one.ok)).toHaveLength(1);
    expect(outcomes.find((one) => !one.ok)).toMatchObject({ errors: [{ code: 'ALREADY_EXISTS' }] });
  });
});
