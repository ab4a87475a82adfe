/** The wanted spec in the shape that is live: where every change of shape begins. */
import type { ResolvedSpec } from '#domain';
import type { LiveShape } from './read-live-shape.ts';

export const holdAtLive = (wanted: ResolvedSpec, live: LiveShape): ResolvedSpec => ({
  ...wanted,
  mode: live.mode ?? wanted.mode,
  size: live.size ?? wanted.size,
  sentinel: { ...wanted.sentinel, replicas: live.sentinels ?? wanted.sentinel.replicas },
  persistenceEnabled: live.persistenceEnabled ?? wanted.persistenceEnabled,
  storage: live.storage ?? wanted.storage,
});
