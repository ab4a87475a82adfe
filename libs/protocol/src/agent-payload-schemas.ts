/** Shapes of everything an agent may send. The types of messages.ts are the contract; the compiler holds both together. */
import * as v from 'valibot';
import * as field from './field-schemas.ts';
import type { AgentPayloads } from './envelopes.ts';

const hello = v.object({
  protocolVersions: field.versions,
  agentId: field.requiredText,
  agentVersion: field.shortText,
  instanceId: field.requiredText,
  scope: field.scope,
  fingerprint: field.requiredText,
  hubEpoch: v.exactOptional(field.shortText),
  appliedRevision: field.count,
  specDigest: field.digest,
  crdSchemaHash: field.shortText,
  capabilities: v.pipe(v.array(field.shortText), v.maxLength(256)),
  inventory: field.inventoryState,
  signature: field.requiredText,
});

export const objectOutcome = v.object({
  hubUid: field.id,
  hubGeneration: field.pastGeneration,
  state: v.picklist(['APPLIED', 'REJECTED', 'CONFLICT', 'WAITING', 'DELETED_LOCALLY', 'DELETED', 'ORPHANED']),
  specHash: v.exactOptional(field.sha256),
  uid: v.exactOptional(field.id),
  code: v.exactOptional(field.shortText),
  message: v.exactOptional(field.longText),
  retryable: v.exactOptional(v.boolean()),
  contested: v.exactOptional(v.array(field.foreignField)),
});

const desiredAck = v.object({
  revision: field.count,
  outcomes: v.array(objectOutcome),
  digest: field.digest,
});

export const statusItem = v.object({
  hubUid: v.exactOptional(field.id),
  namespace: field.namespace,
  name: field.objectName,
  uid: field.id,
  kind: field.kind,
  observedHubGeneration: v.exactOptional(field.count),
  observedGeneration: v.exactOptional(field.count),
  phase: v.exactOptional(field.word),
  conditions: v.array(field.condition),
  dataSetId: v.exactOptional(field.shortText),
  mode: v.exactOptional(field.word),
  engineVersion: v.exactOptional(field.word),
  size: v.exactOptional(field.smallCount),
  readyPods: v.exactOptional(field.smallCount),
  currentPrimary: v.exactOptional(field.shortText),
  primaryTerm: v.exactOptional(field.count),
  endpoints: v.exactOptional(field.mapOf(field.longText)),
  pods: v.array(field.podStatus),
  foreignFields: v.array(field.foreignField),
  liveSpec: v.exactOptional(field.liveSpec),
  details: v.exactOptional(field.statusDetails),
  gone: v.exactOptional(v.boolean()),
  terminating: v.exactOptional(v.boolean()),
  unclaimed: v.exactOptional(v.boolean()),
  numbers: v.exactOptional(field.numbers),
  hash: v.exactOptional(field.digest),
});

export const guestItem = v.object({
  hubUid: field.id,
  namespace: field.namespace,
  name: field.objectName,
  numbers: field.guestNumbers,
});

export const inventoryObject = v.object({
  hubUid: field.id,
  hubGeneration: field.count,
  specHash: field.shortText,
  namespace: field.namespace,
  name: field.objectName,
  unclaimed: v.boolean(),
});

export const eventItem = v.object({
  hubUid: v.exactOptional(field.id),
  namespace: field.namespace,
  name: field.objectName,
  severity: v.picklist(['Normal', 'Warning']),
  reason: field.shortText,
  message: field.longText,
  first: field.shortText,
  last: field.shortText,
  count: field.count,
});

const enrol = v.object({
  token: field.requiredText,
  publicKey: field.requiredText,
  fingerprint: field.requiredText,
  scope: field.scope,
  agentVersion: field.shortText,
  instanceId: field.requiredText,
  signature: field.requiredText,
});

type Schemas = { readonly [T in keyof AgentPayloads]: v.GenericSchema<unknown, AgentPayloads[T]> };

export const agentPayloadSchemas: Schemas = {
  Hello: hello,
  DesiredAck: desiredAck,
  StatusBatch: v.object({
    counter: field.count,
    items: v.array(statusItem),
    complete: v.exactOptional(v.boolean()),
    inventory: v.exactOptional(field.inventoryState),
    statusDigest: v.exactOptional(field.digest),
    guests: v.exactOptional(v.array(guestItem)),
  }),
  Heartbeat: v.object({ inventory: field.inventoryState }),
  InventoryChunk: v.object({ objects: v.array(inventoryObject), last: v.boolean() }),
  EventBatch: v.object({ counter: field.count, items: v.array(eventItem) }),
  Enrol: enrol,
  KeyRotation: v.object({ newPublicKey: field.requiredText, signature: field.requiredText }),
};
