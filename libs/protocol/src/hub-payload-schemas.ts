/** Shapes of everything a hub may send. The types of messages.ts are the contract; the compiler holds both together. */
import * as v from 'valibot';
import * as field from './field-schemas.ts';
import type { HubPayloads } from './envelopes.ts';

/** Told by agents once and kept since: those of release 0.1.0 were bounded in characters, and this is read whole or not at all. */
const keptText = v.pipe(v.string(), v.nonEmpty(), v.maxLength(field.MAX_SHORT_TEXT));
const pause = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(24 * 3600 * 1000));

const welcome = v.object({
  protocolVersion: field.count,
  sessionNo: field.count,
  hubEpoch: field.requiredText,
  hubTime: field.shortText,
  mode: v.picklist(['DELTA', 'SNAPSHOT', 'INVENTORY']),
  limits: v.object({
    statusWindow: field.generation,
    heartbeatIntervalMs: v.pipe(v.number(), v.safeInteger(), v.minValue(100)),
    maxFrameBytes: v.pipe(v.number(), v.safeInteger(), v.minValue(4096)),
  }),
  nextCa: v.exactOptional(field.longText),
});

const target = {
  hubUid: field.requiredText,
  namespace: field.requiredText,
  name: field.requiredText,
  apiVersion: field.requiredText,
  kind: field.requiredText,
};

const upsert = v.object({
  ...target,
  hubGeneration: field.generation,
  specHash: field.sha256,
  spec: v.string(),
  create: v.boolean(),
  adopt: v.boolean(),
  driftPolicy: v.picklist(['Report', 'Revert']),
  revertFields: v.exactOptional(v.array(v.pipe(v.string(), v.maxLength(4096)))),
  dataSetId: v.exactOptional(keptText),
});

const tombstone = v.object({
  ...target,
  operation: v.picklist(['DELETE', 'ORPHAN']),
  approval: v.exactOptional(
    v.object({ id: field.requiredText, hubUids: v.array(field.requiredText), expiresAt: field.shortText }),
  ),
  uids: v.exactOptional(v.array(keptText)),
});

const empty: v.GenericSchema<unknown, HubPayloads['StatusResync']> = v.object({});
const reconnect = v.object({ afterMs: pause });
const acknowledged = v.object({ counter: field.count });

type Schemas = { readonly [T in keyof HubPayloads]: v.GenericSchema<unknown, HubPayloads[T]> };

export const hubPayloadSchemas: Schemas = {
  Challenge: v.object({
    challenge: field.requiredText,
    protocolVersions: field.versions,
    audience: field.requiredText,
  }),
  Welcome: welcome,
  SnapshotBegin: v.object({ revision: field.count, objectCount: field.count }),
  SnapshotChunk: v.object({ upserts: v.array(upsert) }),
  SnapshotEnd: v.object({
    revision: field.count,
    digest: field.digest,
    tombstones: v.array(tombstone),
    held: v.exactOptional(v.array(field.requiredText)),
  }),
  Delta: v.object({ revision: field.count, upserts: v.array(upsert), tombstones: v.array(tombstone) }),
  StatusAck: v.object({ counter: field.count, inSync: v.exactOptional(v.boolean()) }),
  EventAck: acknowledged,
  StatusResync: empty,
  Slow: v.object({ pauseMs: pause }),
  Reconnect: reconnect,
  Drain: reconnect,
  EnrolPending: v.object({ message: field.longText, retryAfterMs: pause }),
  Enrolled: v.object({ agentId: field.requiredText, hubEpoch: field.requiredText }),
  Refused: v.object({ code: field.shortText, message: field.longText, terminal: v.boolean() }),
  KeyAccepted: v.object({ publicKey: field.requiredText }),
  UpgradeRequired: v.object({ supportedProtocolVersions: v.array(field.count), message: field.longText }),
};
