/** 03 rule 8, for the agents that are just coming: when a database is restored, that is most of the fleet. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { EMPTY_DIGEST } from '#protocol';

import { enrolAgent } from '../../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { TestAgent } from '../../../../test/test-agent.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

it('a hub epoch that changes between Challenge and Hello is the one that the session begins with', async () => {
  const enrolled = await enrolAgent(hub);
  const { identity, epochListeners } = hub.runtime;
  const before = identity.hubEpoch;
  const agent = await TestAgent.connect(hub, enrolled.identity);
  identity.hubEpoch = randomUUID();
  for (const listener of epochListeners) listener();
  agent.hello({ hubEpoch: before, appliedRevision: 0, specDigest: EMPTY_DIGEST });
  expect(await agent.next('Welcome')).toMatchObject({ mode: 'INVENTORY', hubEpoch: identity.hubEpoch });
  agent.close();
});
