/**
 * Challenge, Hello, Welcome, Heartbeat and UpgradeRequired as they were frozen with protocol 1, written down apart from the
 * code that sends and reads them: a change of that code must not change what it is measured by. Nothing may be added that a
 * peer of a year ago has to understand; a field that it may leave unread is listed here, with `optional`.
 */
import * as v from 'valibot';

const versions = v.array(v.number());

const FROZEN = {
  Challenge: v.strictObject({ challenge: v.string(), protocolVersions: versions, audience: v.string() }),
  Hello: v.strictObject({
    protocolVersions: versions,
    agentId: v.string(),
    agentVersion: v.string(),
    instanceId: v.string(),
    scope: v.variant('kind', [
      v.strictObject({ kind: v.literal('CLUSTER') }),
      v.strictObject({ kind: v.literal('NAMESPACE'), namespace: v.string() }),
    ]),
    fingerprint: v.string(),
    hubEpoch: v.optional(v.string()),
    appliedRevision: v.number(),
    specDigest: v.string(),
    crdSchemaHash: v.string(),
    capabilities: v.array(v.string()),
    inventory: v.picklist(['SYNCED', 'UNKNOWN']),
    signature: v.string(),
  }),
  Welcome: v.strictObject({
    protocolVersion: v.number(),
    sessionNo: v.number(),
    hubEpoch: v.string(),
    hubTime: v.string(),
    mode: v.picklist(['DELTA', 'SNAPSHOT', 'INVENTORY']),
    limits: v.strictObject({ statusWindow: v.number(), heartbeatIntervalMs: v.number(), maxFrameBytes: v.number() }),
    nextCa: v.optional(v.string()),
  }),
  Heartbeat: v.strictObject({ inventory: v.picklist(['SYNCED', 'UNKNOWN']) }),
  UpgradeRequired: v.strictObject({ supportedProtocolVersions: versions, message: v.string() }),
} as const;

export type FrozenType = keyof typeof FROZEN;
export const FROZEN_TYPES = Object.keys(FROZEN) as FrozenType[];

/** What of this payload a peer of protocol 1 would not understand, a sentence each; empty when it is as it was frozen. */
export function findThawed(type: FrozenType, payload: unknown): string[] {
  const parsed = v.safeParse<v.GenericSchema>(FROZEN[type], payload);
  return (parsed.issues ?? []).map((issue) => `${type}.${v.getDotPath(issue) ?? ''}: ${issue.message}`);
}

/** The least that a peer of protocol 1 sends: nothing that is optional. */
export function withoutOptional(type: FrozenType, payload: object): object {
  const entries: Readonly<Record<string, v.GenericSchema>> = FROZEN[type].entries;
  return Object.fromEntries(Object.entries(payload).filter(([name]) => entries[name]?.type !== 'optional'));
}
