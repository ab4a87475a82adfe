/** A frame in one line, for the story that a failing seed prints. */
import type { AgentMessage, HubMessage } from '#protocol';

const short = (hubUid: string): string => hubUid.slice(-4);

export function describeFrame({ type, payload }: AgentMessage | HubMessage): string {
  switch (type) {
    case 'Welcome':
      return `Welcome ${payload.mode}`;
    case 'Delta': {
      const upserts = payload.upserts.map((one) => `${one.name} ${short(one.hubUid)} v${one.hubGeneration}`);
      const tombstones = payload.tombstones.map((one) => `${one.operation} ${one.name} ${short(one.hubUid)}`);
      return `Delta ${payload.revision}: ${[...upserts, ...tombstones].join(', ')}`;
    }
    case 'SnapshotChunk':
      return `SnapshotChunk: ${payload.upserts.map((one) => `${one.name} ${short(one.hubUid)} v${one.hubGeneration}`).join(', ')}`;
    case 'SnapshotEnd':
      return `SnapshotEnd ${payload.revision}: ${payload.tombstones.map((one) => `${one.operation} ${one.name}`).join(', ')}`;
    case 'DesiredAck': {
      const told = payload.outcomes.map((one) =>
        `${short(one.hubUid)} v${one.hubGeneration} ${one.state} ${one.code ?? ''}`.trim(),
      );
      return `DesiredAck ${payload.revision} ${payload.digest.slice(0, 6)}: ${told.join(', ')}`;
    }
    case 'InventoryChunk':
      return `InventoryChunk: ${payload.objects.map((one) => `${short(one.hubUid)} v${one.hubGeneration}${one.unclaimed ? ' unclaimed' : ''}`).join(', ')}`;
    case 'Heartbeat':
      return `Heartbeat ${payload.inventory}`;
    default:
      return type;
  }
}
