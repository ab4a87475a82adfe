/** Messages about desired state, as a hub would send them. */
import { freezeSpec } from '#protocol';
import type { DesiredAck, Tombstone, Upsert } from '#protocol';
import type { FakeSession } from './fake-hub.ts';

const TARGET = { namespace: 'shop', apiVersion: 'redis.atoll.dev/v1alpha1', kind: 'RedisCluster' } as const;

/** An upsert of a Sentinel of this size (default 3) in namespace shop; its name is the hubUid unless given. */
export function buildUpsert(
  hubUid: string,
  hubGeneration: number,
  changes: Partial<Upsert> & { readonly size?: number } = {},
): Upsert {
  const { size = 3, ...rest } = changes;
  const { text, hash } = freezeSpec({ engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', size });
  return {
    ...TARGET,
    hubUid,
    hubGeneration,
    specHash: hash,
    name: hubUid,
    spec: text,
    create: true,
    adopt: false,
    driftPolicy: 'Report',
    ...rest,
  };
}

export const buildTombstone = (hubUid: string, changes: Partial<Tombstone> = {}): Tombstone => ({
  ...TARGET,
  hubUid,
  name: hubUid,
  operation: 'DELETE',
  ...changes,
});

/** Sends a Delta and resolves with the next ack. */
export function sendDelta(
  { connection }: FakeSession,
  revision: number,
  upserts: readonly Upsert[],
  tombstones: readonly Tombstone[] = [],
): Promise<DesiredAck> {
  connection.send('Delta', { revision, upserts, tombstones });
  return connection.next('DesiredAck');
}

/** `hubUid STATE CODE` of each outcome, in order. */
export const describeOutcomes = (ack: DesiredAck): string[] =>
  ack.outcomes.map(({ hubUid, state, code }) => [hubUid, state, code].filter((part) => part !== undefined).join(' '));
