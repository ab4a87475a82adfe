import { ANNOTATION } from '#domain';
import type { RedisClusterObject, RedisClusterSpec } from '#domain';
import { COPIED_CONDITION, freezeSpec, parseAgentFrame } from '#protocol';
import type { StatusItem } from '#protocol';
import { describe, expect, it } from 'vitest';
import { buildGoneItem, buildStatusItem } from './build-status-item.ts';

const spec: RedisClusterSpec = { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', size: 3 };
const owned = (manager: string, fields: object): object => ({
  manager,
  operation: 'Apply',
  fieldsV1: { 'f:spec': fields },
});

const object = (changes: Partial<RedisClusterObject> = {}, metadata: object = {}): RedisClusterObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: {
    namespace: 'shop',
    name: 'cart',
    uid: 'k1',
    annotations: {
      [ANNOTATION.hubUid]: 'u1',
      [ANNOTATION.hubGeneration]: '3',
      [ANNOTATION.specHash]: freezeSpec(spec).hash,
    },
    managedFields: [owned('atoll-hub', { 'f:engine': { 'f:type': {}, 'f:version': {} }, 'f:mode': {}, 'f:size': {} })],
    ...metadata,
  },
  spec,
  ...changes,
});
const build = (of: RedisClusterObject): StatusItem => buildStatusItem(of, { unclaimed: false });

describe('a status item', () => {
  it('tells the states of the object, pods of every shard and the sentinels', () => {
    const item = build(
      object({
        status: {
          phase: 'Ready',
          observedGeneration: 2,
          observedHubGeneration: 3,
          dataSetId: 'u1',
          shards: [{ name: '0', pods: [{ name: 'p0', role: 'primary', ready: true }] }],
          sentinels: [{ name: 's0', role: 'sentinel', ready: true }],
          endpoints: { primary: 'cart:6379' },
        },
      }),
    );
    expect(item).toMatchObject({ hubUid: 'u1', uid: 'k1', phase: 'Ready', observedHubGeneration: 3, dataSetId: 'u1' });
    expect(item.pods.map((pod) => pod.name)).toEqual(['p0', 's0']);
    expect(item.endpoints).toEqual({ primary: 'cart:6379' });
    expect(item.foreignFields).toEqual([]);
    expect('liveSpec' in item).toBe(false);
  });

  it('tells the details of the status as they are, and none where there are none', () => {
    const config = { applied: 1, pendingRestart: ['databases'], rejected: [] };
    const item = build(object({ status: { primaryEngine: 'Redis', primaryVersion: '8.0.2', config } }));
    expect(item.details).toEqual({ primaryEngine: 'Redis', primaryVersion: '8.0.2', config });
    expect('details' in build(object())).toBe(false);
  });

  it('shows a field that somebody took over, with its live value, and the live spec', () => {
    const edited = object(
      { spec: { ...spec, size: 5 } },
      {
        managedFields: [
          owned('atoll-hub', { 'f:engine': { 'f:type': {}, 'f:version': {} }, 'f:mode': {} }),
          owned('kubectl-edit', { 'f:size': {} }),
        ],
      },
    );
    expect(build(edited).foreignFields).toEqual([{ path: 'spec.size', manager: 'kubectl-edit', liveValue: '5' }]);
    expect(build(edited).liveSpec).toMatchObject({ size: 5 });
  });

  it('counts no field that the hub owns as well', () => {
    const shared = object(
      {},
      { managedFields: [owned('atoll-hub', { 'f:size': {} }), owned('kubectl', { 'f:size': {} })] },
    );
    expect(build(shared).foreignFields).toEqual([]);
  });

  it('shows the live spec when a field was taken away, though nobody owns it', () => {
    const { size: _, ...less } = spec;
    const item = build(object({ spec: less }, { managedFields: [owned('atoll-hub', { 'f:mode': {} })] }));
    expect(item.foreignFields).toEqual([]);
    expect(item.liveSpec).toEqual(less);
  });

  it('shows a hand-made object whole, and calls nothing of it foreign', () => {
    const item = build(object({}, { annotations: {}, managedFields: [owned('kubectl', { 'f:size': {} })] }));
    expect(item.hubUid).toBeUndefined();
    expect(item).toMatchObject({ dataSetId: 'k1', liveSpec: spec, foreignFields: [] });
  });

  it('shows a copy of a pushed object as the hand-made object it is, and says so', () => {
    const { annotations } = object().metadata;
    const copied = object({}, { name: 'copy', annotations: { ...annotations, [ANNOTATION.hubName]: 'shop/cart' } });
    const byAge = buildStatusItem(object(), { unclaimed: false, isCopy: true });
    for (const item of [build(copied), byAge]) {
      expect(item.hubUid).toBeUndefined();
      expect(item).toMatchObject({
        liveSpec: spec,
        foreignFields: [],
        conditions: [{ type: COPIED_CONDITION, status: 'True' }],
      });
    }
    expect(build(copied).conditions[0]?.message).toContain('copied from shop/cart');
    expect(build(copied).dataSetId).toBe('k1');
  });

  it('marks what is terminating, unclaimed and gone', () => {
    const item = buildStatusItem(object({}, { deletionTimestamp: '2026-11-30T05:00:00Z' }), { unclaimed: true });
    expect(item).toMatchObject({ terminating: true, unclaimed: true });
    expect(buildGoneItem(item)).toMatchObject({ gone: true, uid: 'k1', hubUid: 'u1', conditions: [] });
  });

  it('is always one that the hub can read', () => {
    for (const item of [build(object()), build(object({}, { annotations: {} })), buildGoneItem(build(object()))]) {
      const text = JSON.stringify({ type: 'StatusBatch', nonce: '1', payload: { counter: 0, items: [item] } });
      expect(parseAgentFrame(text)).toMatchObject({ ok: true });
    }
  });
});
