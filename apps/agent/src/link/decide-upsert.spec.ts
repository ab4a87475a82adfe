import { ANNOTATION } from '#domain';
import type { KubeObject } from '#domain';
import { freezeSpec } from '#protocol';
import type { Upsert } from '#protocol';
import { agentLimits } from '#testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideUpsert } from './decide-upsert.ts';
import type { UpsertDecision, UpsertQuestion } from './decide-upsert.ts';

const NOW_MS = Date.parse('2026-12-01T03:00:00Z');
const wanted = { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' };
const frozen = freezeSpec(wanted);

const upsert = (changes: Partial<Upsert> = {}): Upsert => ({
  hubUid: 'u1',
  hubGeneration: 3,
  specHash: frozen.hash,
  namespace: 'shop',
  name: 'cart',
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  spec: frozen.text,
  create: false,
  adopt: false,
  driftPolicy: 'Report',
  ...changes,
});

const live = (
  annotations: Record<string, string> = {},
  metadata: Partial<KubeObject['metadata']> = {},
): KubeObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { namespace: 'shop', name: 'cart', uid: 'k1', annotations, ...metadata },
  spec: wanted,
});
const held = (hubUid: string, generation: number, hash = frozen.hash): Record<string, string> => ({
  [ANNOTATION.hubUid]: hubUid,
  [ANNOTATION.hubGeneration]: String(generation),
  [ANNOTATION.specHash]: hash,
});

const question = (changes: Partial<UpsertQuestion> = {}): UpsertQuestion => ({
  upsert: upsert(),
  live: undefined,
  tombstone: undefined,
  liveIsUnclaimed: false,
  bounds: {
    scope: { kind: 'CLUSTER' },
    namespace: 'atoll-system',
    limits: agentLimits(),
  },
  managedObjects: 0,
  dataSetHolder: undefined,
  history: { recentChangesMs: new Map(), heldChanges: new Map(), isOfMass: false, nowMs: NOW_MS },
  ...changes,
});
const decide = (changes: Partial<UpsertQuestion> = {}): UpsertDecision => decideUpsert(question(changes));
const outcome = (decision: UpsertDecision): unknown =>
  decision.kind === 'OUTCOME' ? `${decision.outcome.state} ${decision.outcome.code ?? ''}`.trim() : decision.kind;

describe('an upsert of an object that is not there', () => {
  it('creates it only when the hub says create', () => {
    expect(outcome(decide({ upsert: upsert({ create: true }) }))).toBe('CREATE');
    expect(outcome(decide())).toBe('DELETED_LOCALLY DELETED_LOCALLY');
  });

  it('never creates it again after its tombstone, whatever the hub says', () => {
    for (const tombstone of ['DELETE', 'ORPHAN'] as const) {
      expect(outcome(decide({ upsert: upsert({ create: true, adopt: true }), tombstone }))).toBe('REJECTED TOMBSTONED');
    }
  });
});

describe('an upsert of the same hubUid', () => {
  it.each([
    ['a higher generation is written', 2, frozen.hash, 'UPDATE'],
    ['the same generation and hash is held', 3, frozen.hash, 'HELD'],
    ['a lower generation is ignored', 4, frozen.hash, 'REJECTED GENERATION_AHEAD'],
    ['the same generation with another hash keeps what is here', 3, 'b'.repeat(64), 'REJECTED GENERATION_REUSED'],
  ])('%s', (_, generation, hash, expected) => {
    expect(outcome(decide({ live: live(held('u1', generation, hash)) }))).toBe(expected);
  });

  it('is written when the generation annotation was lost', () => {
    expect(outcome(decide({ live: live({ [ANNOTATION.hubUid]: 'u1' }) }))).toBe('UPDATE');
  });

  it('is written again at the same generation to give fields back', () => {
    const at = live(held('u1', 3));
    expect(outcome(decide({ live: at, upsert: upsert({ revertFields: ['spec.size'] }) }))).toBe('UPDATE');
    expect(outcome(decide({ live: at, upsert: upsert({ driftPolicy: 'Revert' }) }))).toBe('UPDATE');
  });

  it('keeps the data set id that the object carries', () => {
    const at = live({ ...held('u1', 2), [ANNOTATION.dataSetId]: 'old-data' });
    expect(decide({ live: at, upsert: upsert({ dataSetId: 'other' }) })).toMatchObject({ dataSetId: 'old-data' });
    expect(decide({ live: at })).toMatchObject({ dataSetId: 'old-data' });
  });

  it('waits while the object is being deleted', () => {
    const at = live(held('u1', 2), { deletionTimestamp: '2026-11-30T05:00:00Z' });
    expect(outcome(decide({ live: at, upsert: upsert({ create: true }) }))).toBe('WAITING NAME_TAKEN');
  });

  it('never goes back over a generation, for any pair of generations', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }), (here, sent) => {
        const kind = decide({ live: live(held('u1', here)), upsert: upsert({ hubGeneration: sent }) }).kind;
        expect(kind === 'UPDATE').toBe(sent > here);
      }),
    );
  });
});

describe('an upsert whose name is held by something else', () => {
  it('waits while it is another object of the hub', () => {
    expect(outcome(decide({ live: live(held('u2', 1)), upsert: upsert({ create: true }) }))).toBe('WAITING NAME_TAKEN');
    expect(outcome(decide({ live: live(held('u2', 1)), upsert: upsert({ adopt: true }) }))).toBe('WAITING NAME_TAKEN');
  });

  it('refuses an unmanaged object unless it adopts it', () => {
    expect(outcome(decide({ live: live(), upsert: upsert({ create: true }) }))).toBe('REJECTED ALREADY_EXISTS');
    expect(decide({ live: live(), upsert: upsert({ adopt: true }) })).toMatchObject({
      kind: 'UPDATE',
      dataSetId: 'k1',
    });
  });

  it('adopts with the data set id that was fixed, over every other', () => {
    const at: KubeObject = { ...live({ [ANNOTATION.dataSetId]: 'annotated' }), status: { dataSetId: 'fixed' } };
    expect(decide({ live: at, upsert: upsert({ adopt: true, dataSetId: 'sent' }) })).toMatchObject({
      dataSetId: 'fixed',
    });
  });

  it('adopts an object of a hubUid that the hub does not know, with its data', () => {
    const decision = decide({ live: live(held('lost', 9)), upsert: upsert({ adopt: true }), liveIsUnclaimed: true });
    expect(decision).toMatchObject({ kind: 'UPDATE', dataSetId: 'lost' });
  });
});

describe('an upsert that is refused before anything is looked at', () => {
  const limits = agentLimits({ namespaces: ['other'], imageRegistries: ['registry.example.com'] });
  const at = { scope: { kind: 'CLUSTER' as const }, namespace: 'atoll-system' };
  const priority = freezeSpec({ ...wanted, scheduling: { priorityClassName: 'system-node-critical' } });
  const image = freezeSpec({ ...wanted, engine: { ...wanted.engine, image: 'docker.io/library/redis:8.0' } });

  it.each([
    ['a spec that is not the text of its hash', { upsert: upsert({ spec: '{}' }) }, 'REJECTED INVALID_INPUT'],
    ['a kind that this agent does not know', { upsert: upsert({ kind: 'RedisOperation' }) }, 'REJECTED CRD_TOO_OLD'],
    [
      'a namespace outside the scope',
      { bounds: { ...at, scope: { kind: 'NAMESPACE' as const, namespace: 'mine' }, limits: agentLimits() } },
      'REJECTED NOT_PERMITTED_HERE',
    ],
    ['a namespace outside the values', { bounds: { ...at, limits } }, 'REJECTED NOT_PERMITTED_HERE'],
    [
      'the namespace of the agent itself, also where its values name it',
      {
        upsert: upsert({ namespace: 'atoll-system', create: true }),
        bounds: { ...at, limits: agentLimits({ namespaces: ['atoll-system'] }) },
      },
      'REJECTED NOT_PERMITTED_HERE',
    ],
    [
      'a namespace of Kubernetes',
      { upsert: upsert({ namespace: 'kube-system', create: true }) },
      'REJECTED NOT_PERMITTED_HERE',
    ],
    [
      "a priority of Kubernetes' own components",
      { upsert: upsert({ spec: priority.text, specHash: priority.hash, create: true }) },
      'REJECTED NOT_PERMITTED_HERE',
    ],
    [
      'one object more than this agent takes',
      {
        upsert: upsert({ create: true }),
        bounds: { ...at, limits: agentLimits({ maxRedisClusters: 2 }) },
        managedObjects: 2,
      },
      'REJECTED NOT_PERMITTED_HERE',
    ],
    [
      'an image from another registry',
      {
        upsert: upsert({ spec: image.text, specHash: image.hash, create: true }),
        bounds: { ...at, limits: { ...limits, namespaces: [] } },
      },
      'REJECTED NOT_PERMITTED_HERE',
    ],
  ])('%s', (_, changes, expected) => {
    expect(outcome(decide(changes))).toBe(expected);
  });

  it('a spec over the size limit', () => {
    const large = freezeSpec({ config: { x: 'y'.repeat(201 * 1024) } });
    expect(outcome(decide({ upsert: upsert({ spec: large.text, specHash: large.hash, create: true }) }))).toBe(
      'REJECTED OBJECT_TOO_LARGE',
    );
  });
});
