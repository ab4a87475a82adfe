/** Rule 14 at the agent: what protocol 1 recorded is what this agent reads and sends; no version in common is said plainly. */
import { readFileSync } from 'node:fs';
import { freezeSpec } from '#protocol';
import { buildUpsert, findThawed, LinkWorld, sendDelta, until } from '#testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Link } from './index.ts';

vi.setConfig({ testTimeout: 20_000 });

let world: LinkWorld;
afterEach(() => world.stop());

interface Recorded {
  readonly type: string;
  readonly payload: object;
}
const recorded = JSON.parse(
  readFileSync(new URL('../../../../libs/protocol/recorded/protocol-1.hub.json', import.meta.url), 'utf8'),
) as Recorded[];
/** Each of these ends the session, and is played on its own. */
const ENDS: readonly string[] = ['Reconnect', 'Drain', 'EnrolPending', 'Enrolled', 'Refused', 'UpgradeRequired'];
/** Of the handshake, which is over. */
const HANDSHAKE: readonly string[] = ['Challenge', 'Welcome'];

const textOf = (type: string): string => JSON.stringify(recorded.find((frame) => frame.type === type));

describe('rule 14: an agent of today', () => {
  it('says Hello and Heartbeat as they were frozen', async () => {
    world = await LinkWorld.start();
    world.run(new Link(world.settings(), world.parts()));
    const { connection, hello } = await world.hub.nextSession();
    expect(findThawed('Hello', hello)).toEqual([]);
    expect(findThawed('Heartbeat', await connection.next('Heartbeat'))).toEqual([]);
    connection.terminate();
    // With what is optional: the epoch that it knows by now.
    expect(findThawed('Hello', (await world.hub.nextSession()).hello)).toEqual([]);
  });

  it('reads every frame that protocol 1 recorded of a hub, in one session', async () => {
    world = await LinkWorld.start();
    await world.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    const link = world.run(new Link(world.settings(), world.parts()));
    const { connection } = await world.hub.nextSession();
    for (const { type } of recorded) {
      if (!ENDS.includes(type) && !HANDSHAKE.includes(type)) connection.sendText(textOf(type));
    }
    const acks = [await connection.next('DesiredAck'), await connection.next('DesiredAck')];
    expect(acks.map(({ revision }) => revision)).toEqual([43, 44]);
    expect((await world.find('cart'))?.spec).toMatchObject({ mode: 'Sentinel', size: 3 });
    expect(connection.isClosed).toBe(false);
    expect(link.state()).toMatchObject({ connected: true, appliedRevision: 44 });
  });

  it.each(ENDS)('reads the recorded %s, which ends the session', async (type) => {
    world = await LinkWorld.start();
    const logged: string[] = [];
    const log = (_level: string, message: string, fields?: object): void =>
      void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
    const link = world.run(new Link(world.settings(), { ...world.parts(), log }));
    const { connection } = await world.hub.nextSession();
    connection.sendText(textOf(type));
    if (type === 'Refused' || type === 'UpgradeRequired') {
      await until('it is said', () => logged.some((line) => line.includes('redialInMs":48000')));
      expect(link.state().lastFailure).toMatch(/Upgrade this agent to 0\.9|AGENT_REVOKED/);
    } else await until('it dials again', () => world.hub.connections.length > 1);
    expect(logged.join()).not.toContain('cannot read');
  });

  it('says which field the definition here lacks, once and for all, and applies the rest', async () => {
    world = await LinkWorld.start();
    // As a real API server answers a server-side apply of a field that the definition does not declare.
    world.kube.inject({
      when: ({ method, body }) => method === 'PATCH' && body.includes('"suspend"'),
      act: {
        kind: 'status',
        code: 500,
        reason: '',
        message:
          'failed to create typed patch object (shop/new; redis.atoll.dev/v1alpha1): .spec.suspend: field not declared in schema',
      },
      times: Infinity,
    });
    world.run(new Link(world.settings(), world.parts()));
    const session = await world.hub.nextSession();
    const { text, hash } = freezeSpec({ mode: 'Standalone', suspend: true });
    const tooNew = { ...buildUpsert('new', 1), spec: text, specHash: hash };
    const ack = await sendDelta(session, 1, [tooNew, buildUpsert('old', 1)]);
    expect(ack.outcomes).toMatchObject([
      { hubUid: 'new', state: 'REJECTED', code: 'CRD_TOO_OLD', retryable: false },
      { hubUid: 'old', state: 'APPLIED' },
    ]);
    expect(ack.outcomes[0]?.message).toContain('.spec.suspend: field not declared in schema');
    expect(await world.find('new')).toBeUndefined();
  });

  it('says which versions the hub speaks and which it speaks itself', async () => {
    world = await LinkWorld.start();
    const link = world.run(new Link(world.settings(), world.parts()));
    (await world.hub.nextSession()).connection.sendText(textOf('UpgradeRequired'));
    await until('it is said', () => link.state().lastFailure !== undefined);
    expect(link.state().lastFailure).toBe(
      'no protocol in common: the hub speaks 2 and 3, this agent 1; the hub says: Upgrade this agent to 0.9 or later.',
    );
  });
});
