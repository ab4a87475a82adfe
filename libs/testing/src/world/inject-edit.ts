/** What people do to the object itself: scale, configure, upgrade, mistype an image and take it back, change the mode. */
import type { RedisClusterSpec } from '#domain';
import { tell } from './world-state.ts';
import type { World } from './world-state.ts';

export type Edit = (world: World) => void;

export const editSpec = (world: World, what: string, spec: Partial<RedisClusterSpec>): void => {
  const { resource } = world;
  if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) return;
  const metadata = { ...resource.metadata, generation: (resource.metadata.generation ?? 1) + 1 };
  world.resource = { ...resource, metadata, spec: { ...resource.spec, ...spec } };
  world.lastSpec = world.resource.spec;
  tell(world, what);
};

const resize: Edit = (world) => {
  const { spec } = world.resource ?? {};
  if (spec === undefined || spec.mode === 'Standalone') return;
  const now = spec.size ?? 3;
  const least = spec.mode === 'Sentinel' ? 2 : 1;
  const size = Math.min(7, Math.max(least, now + (world.random.chance(0.5) ? 1 : -1)));
  if (size !== now) editSpec(world, `the size is changed from ${now} to ${size}`, { size });
};

const configure: Edit = (world) => {
  const policy = world.random.chance(0.5) ? 'allkeys-lfu' : 'noeviction';
  const config = { ...world.resource?.spec.config, 'maxmemory-policy': policy };
  editSpec(world, `maxmemory-policy ${policy} is asked for`, { config });
};

const configureForRestart: Edit = (world) => {
  const databases = world.random.chance(0.5) ? '16' : '32';
  const config = { ...world.resource?.spec.config, databases };
  editSpec(world, `databases ${databases} is asked for`, { config });
};

const breakImage: Edit = (world) => {
  const { engine } = world.resource?.spec ?? {};
  if (engine === undefined || engine.image !== undefined) return;
  editSpec(world, 'an image that does not exist is asked for', {
    engine: { ...engine, image: 'docker.io/library/redis:no-such' },
  });
};

/** Takes a wrong image back. */
export const mendImage: Edit = (world) => {
  const { engine } = world.resource?.spec ?? {};
  if (engine?.image === undefined) return;
  const { image: _, ...rest } = engine;
  editSpec(world, 'the image is taken back', { engine: rest });
};

const EDITS: readonly Edit[] = [resize, resize, configure, configureForRestart, breakImage, mendImage, mendImage];

export const injectEdit: Edit = (world) => world.random.pick(EDITS)?.(world);
