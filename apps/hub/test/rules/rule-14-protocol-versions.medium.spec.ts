/**
 * Rule 14, skew of the protocol: the hub speaks the current and the previous one. The recorded protocol 1 is the current one;
 * until a second exists an invented version 0 stands for the previous. Real hubs and real agents over real WebSockets.
 */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it, vi } from 'vitest';

import type { AgentPayloads, Dialect } from '#protocol';
import { createProtocol0, createProtocol1, findThawed } from '#testing';

import { TestAgent } from '../test-agent.ts';
import { enrolAgent, openSession } from '../link-fixture.ts';
import { RuleWorld } from './rule-world.ts';
import { WAIT } from '../wait.ts';

/** One hub for each list of versions that one speaks; undefined: what this release speaks. */
const worlds = new Map<string, Promise<RuleWorld>>();
const worldOf = (dialects?: readonly Dialect[]): Promise<RuleWorld> => {
  const key = String(dialects?.map(({ version }) => version));
  const world = worlds.get(key) ?? RuleWorld.start(dialects === undefined ? {} : { dialects });
  worlds.set(key, world);
  return world;
};
afterAll(async () => {
  for (const world of worlds.values()) await (await world).close();
});

interface Recorded {
  readonly type: keyof AgentPayloads;
  readonly nonce: string;
  readonly payload: never;
}
const recorded = JSON.parse(
  readFileSync(new URL('../../../../libs/protocol/recorded/protocol-1.agent.json', import.meta.url), 'utf8'),
) as Recorded[];

/** Both sides write with these, so that what passes between them is counted. */
const DIALECTS = { 0: createProtocol0(), 1: createProtocol1() };

describe('rule 14: protocol versions', () => {
  it.each([
    ['an old agent at a new hub speaks the previous', [1, 0], [0], 0],
    ['a new agent at an old hub speaks the previous', [0], [1, 0], 0],
    ['both new speak the current', [1, 0], [1, 0], 1],
  ] as const)('%s: objects, status and deletes pass', async (_, hubSpeaks, agentSpeaks, expected) => {
    const other = expected === 0 ? 1 : 0;
    for (const written of Object.values(DIALECTS)) written.written.clear();
    const world = await worldOf(hubSpeaks.map((version) => DIALECTS[version]));
    const member = await world.addMember({
      parts: { dialects: agentSpeaks.map((version) => DIALECTS[version]) },
    });
    const wanted = await world.deliver(member, 'spoken');
    await member.setStatus('spoken', { phase: 'Ready' });
    await world.until('Ready', async () => (await world.status(wanted))?.phase);
    await world.unwant(member, wanted);
    await world.untilDelivery(wanted, 'GONE');
    await member.stop();
    for (const type of ['Delta', 'DesiredAck', 'StatusBatch', 'StatusAck']) {
      expect(DIALECTS[expected].written.get(type), type).toBeGreaterThan(0);
      expect(DIALECTS[other].written.get(type), type).toBeUndefined();
    }
  });

  it('with none in common the agent is told what the hub speaks, says so, and keeps what runs', async () => {
    const world = await worldOf();
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'kept');
    await member.stop();
    // The agent is the one of a year ago; what it spoke is spoken no more.
    member.parts = { dialects: [createProtocol0()] };
    member.run();
    await vi.waitFor(
      () => expect(member.link.state().lastFailure).toMatch(/no protocol in common: the hub speaks 1/),
      WAIT,
    );
    expect(member.link.state().lastFailure).toMatch(/this agent 0; .*upgrade the agent/);
    expect(member.logged.at(-1)).toMatch(/redialInMs":4[89]\d{3}/);
    expect(await member.names()).toEqual(['kept']);
    expect(await world.delivery(wanted)).toBe('APPLIED');
    // Upgraded, it goes on where it was.
    await member.stop();
    member.parts = {};
    member.run();
    await world.untilConnected(member);
    await world.untilInSync(member);
  });

  it('every frame that protocol 1 recorded is taken by the hub of today, and its frozen ones are as they were', async () => {
    const world = await worldOf();
    const enrolled = await enrolAgent(world.hub);
    const { agent, welcome } = await openSession(world.hub, enrolled);
    expect(findThawed('Welcome', welcome)).toEqual([]);
    for (const { type, payload } of recorded) agent.send(type, payload);
    // Acked after everything before it was worked off.
    agent.send('EventBatch', { counter: 77, items: [] });
    for (let counter = -1; counter !== 77;) ({ counter } = await agent.next('EventAck'));
    expect(agent.closeCode).toBeUndefined();
    agent.close();
    const old = await TestAgent.connect(world.hub, enrolled.identity);
    expect(findThawed('Challenge', old.challenge)).toEqual([]);
    old.hello({ protocolVersions: [99] });
    expect(findThawed('UpgradeRequired', await old.next('UpgradeRequired'))).toEqual([]);
    expect(await old.waitForClose()).toBe(1008);
  });
});
