/**
 * A hub that was taken over, with a valid session, against an agent on a fake API server: what it may not do here whatever it
 * sends, how often, in what order, and over the agent's restarts.
 */
import { AGENT_STATE_CONFIG_MAP, ANNOTATION } from '#domain';
import { RESOURCE } from '#kube';
import { freezeSpec } from '#protocol';
import { LinkWorld, agentLimits, buildUpsert, describeOutcomes, sendDelta, until } from '#testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Link } from './index.ts';
import type { LinkParts, LinkSettings } from './index.ts';

let world: LinkWorld;
afterEach(() => world.stop());
vi.setConfig({ testTimeout: 20_000 });

const run = async (changes: Partial<LinkSettings> = {}, parts: Partial<LinkParts> = {}): Promise<Link> => {
  world = await LinkWorld.start();
  return world.run(new Link({ ...world.settings(), ...changes }, { ...world.parts(), ...parts }));
};
const runAgain = (): Link => world.run(new Link(world.settings(), world.parts()));
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const create = (...names: string[]) => names.map((name) => buildUpsert(name, 1));
const shrink = (...names: string[]) => names.map((name) => buildUpsert(name, 2, { size: 2, create: false }));
const sizes = (): Promise<readonly unknown[]> =>
  Promise.all(NAMES.map(async (name) => (await world.find(name))?.spec.size));
const letThrough = (name: string, specHash: string) =>
  world.client.patchMerge(
    RESOURCE.redisCluster,
    { namespace: 'shop', name },
    { metadata: { annotations: { [ANNOTATION.letThrough]: specHash } } },
    { fieldManager: 'kubectl-annotate' },
  );

describe('a hub that was taken over', () => {
  it('puts nothing into namespaces of Kubernetes, of the agent, or that are protected, and makes none of them', async () => {
    await run({ limits: agentLimits({ protectedNamespaces: ['vault'] }) });
    const session = await world.hub.nextSession();
    const places = ['kube-system', 'kube-new', 'atoll-system', 'vault'];
    const upserts = places.map((namespace) => buildUpsert(namespace, 1, { namespace, name: 'x' }));
    const ack = await sendDelta(session, 1, [...upserts, buildUpsert('ours', 1)]);
    expect(describeOutcomes(ack)).toEqual([
      ...places.map((namespace) => `${namespace} REJECTED NOT_PERMITTED_HERE`),
      'ours APPLIED',
    ]);
    const writes = world.kube.requests.filter(({ method, path }) => method !== 'GET' && /kube-|vault/.test(path));
    expect(writes).toEqual([]);
    expect(await world.client.find(RESOURCE.namespace, { name: 'kube-new' })).toBeUndefined();
  });

  it('runs no image and no priority that the values do not allow', async () => {
    await run({ limits: agentLimits({ imageRegistries: ['docker.io/library/redis'] }) });
    const session = await world.hub.nextSession();
    const withSpec = (name: string, change: object) => {
      const { text, hash } = freezeSpec({ engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', ...change });
      return buildUpsert(name, 1, { spec: text, specHash: hash });
    };
    const image = (text: string): object => ({ engine: { type: 'Redis', version: '8.0', image: text } });
    const ack = await sendDelta(session, 1, [
      withSpec('evil', image('evil.example/redis:8.0')),
      withSpec('good', image('redis:8.0')),
      withSpec('first', { scheduling: { priorityClassName: 'system-node-critical' } }),
    ]);
    expect(describeOutcomes(ack)).toEqual([
      'evil REJECTED NOT_PERMITTED_HERE',
      'good APPLIED',
      'first REJECTED NOT_PERMITTED_HERE',
    ]);
  });

  it('puts no second object beside one that runs, over the same data', async () => {
    await run();
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, create('a'));
    const twin = buildUpsert('twin', 1, { dataSetId: 'a' });
    const later = buildUpsert('later', 1);
    expect(describeOutcomes(await sendDelta(session, 2, [twin, later]))).toEqual([
      'twin WAITING NAME_TAKEN',
      'later APPLIED',
    ]);
    const onto = buildUpsert('later', 2, { dataSetId: 'a', create: false });
    expect(describeOutcomes(await sendDelta(session, 3, [onto]))).toEqual(['later WAITING NAME_TAKEN']);
    expect(await world.find('twin')).toBeUndefined();
  });

  it('makes no more objects than the values allow', async () => {
    await run({ limits: agentLimits({ maxRedisClusters: 2 }) });
    const session = await world.hub.nextSession();
    const ack = await sendDelta(session, 1, create('a', 'b', 'c'));
    expect(describeOutcomes(ack)).toEqual(['a APPLIED', 'b APPLIED', 'c REJECTED NOT_PERMITTED_HERE']);
  });

  it('changes none of more than three at once, holds up nothing else by it, and waits for a person here', async () => {
    const told: string[] = [];
    const link = await run({}, { warn: (key, reason, message) => told.push(`${key.name} ${reason} ${message}`) });
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, create(...NAMES));
    await until('the cache shows them', () => world.parts().store.list().length === 5);
    const mass = shrink('a', 'b', 'c', 'd');
    const harmless = buildUpsert('e', 2, { size: 5, create: false });
    const ack = await sendDelta(session, 2, [...mass, harmless]);
    const held = ['a', 'b', 'c', 'd'].map((name) => `${name} WAITING CHANGE_BREAKER`);
    expect(describeOutcomes(ack)).toEqual([...held, 'e APPLIED']);
    expect(await sizes()).toEqual([3, 3, 3, 3, 5]);
    expect(link.state().heldChanges).toBe(4);
    expect(told.map((text) => text.split(' ', 2).join(' '))).toEqual(
      NAMES.slice(0, 4).map((name) => `${name} ChangeHeld`),
    );

    // One by one, and with a new session, and after a restart of the agent: held all the same, and said no second time.
    expect(describeOutcomes(await sendDelta(session, 3, mass.slice(0, 1)))).toEqual(held.slice(0, 1));
    expect(told).toHaveLength(4);
    await link.stop();
    const second = runAgain();
    const again = await world.hub.nextSession();
    expect(describeOutcomes(await sendDelta(again, 4, mass.slice(0, 2)))).toEqual(held.slice(0, 2));
    expect(second.state().heldChanges).toBe(4);

    // The command of the message, for one of them.
    await letThrough('a', mass[0]?.specHash ?? '');
    const applied = await again.connection.next('DesiredAck', ({ outcomes }) => outcomes.length > 0);
    expect(describeOutcomes(applied)).toEqual(['a APPLIED']);
    expect(await sizes()).toEqual([2, 3, 3, 3, 5]);
    expect(second.state().heldChanges).toBe(3);
    // Another spec is not what the person has seen.
    await letThrough('b', 'e'.repeat(64));
    expect(describeOutcomes(await sendDelta(again, 5, mass.slice(1, 2)))).toEqual(held.slice(1, 2));
  });

  it('changes no more than three within five minutes one by one, and its own annotations open nothing', async () => {
    const link = await run();
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, create(...NAMES));
    for (const [at, upsert] of shrink('a', 'b', 'c').entries()) {
      expect(describeOutcomes(await sendDelta(session, 2 + at, [upsert]))).toEqual([`${upsert.hubUid} APPLIED`]);
    }
    expect(describeOutcomes(await sendDelta(session, 9, shrink('d')))).toEqual(['d WAITING CHANGE_BREAKER']);
    await link.stop();
    runAgain();
    const again = await world.hub.nextSession();
    const generations = [
      buildUpsert('d', 3, { size: 2, create: false }),
      buildUpsert('e', 7, { size: 2, adopt: true }),
    ];
    expect(describeOutcomes(await sendDelta(again, 10, generations))).toEqual([
      'd WAITING CHANGE_BREAKER',
      'e WAITING CHANGE_BREAKER',
    ]);
    // The same object again is no further object.
    const lower = buildUpsert('a', 4, { size: 2, driftPolicy: 'Revert', create: false });
    expect(describeOutcomes(await sendDelta(again, 11, [lower]))).toEqual(['a APPLIED']);
    expect(await sizes()).toEqual([2, 2, 2, 3, 3]);
    const at = { namespace: 'atoll-system', name: AGENT_STATE_CONFIG_MAP };
    const state = (await world.client.find(RESOURCE.configMap, at))?.['data'] as Record<string, string>;
    expect(state['heldChanges']?.split('\n').map((line) => line.split(' ')[0])).toEqual(['shop/d', 'shop/e']);
  });

  it('may take back by a new generation what is held, which ends the wait', async () => {
    const link = await run({ limits: agentLimits({ maxDestructiveChanges: 0 }) });
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, create('a'));
    expect(describeOutcomes(await sendDelta(session, 2, shrink('a')))).toEqual(['a WAITING CHANGE_BREAKER']);
    const back = buildUpsert('a', 3, { create: false });
    expect(describeOutcomes(await sendDelta(session, 3, [back]))).toEqual(['a APPLIED']);
    expect(link.state().heldChanges).toBe(0);
  });

  it('does not hold what a person changes with kubectl', async () => {
    await run({ limits: agentLimits({ maxDestructiveChanges: 0 }) });
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, create(...NAMES));
    for (const name of NAMES) await world.edit(name, { size: 2 });
    expect(await sizes()).toEqual([2, 2, 2, 2, 2]);
  });
});
