export * from './draw-snapshot.ts';
export * from './make-facts.ts';
export * from './play-seed.ts';
export * from './play-story.ts';
export { makeWorld, stepWorld } from './step-world.ts';
export type { PlanWorld } from './step-world.ts';
export type { World } from './world-state.ts';
export { makeRandom, type SeededRandom } from './seeded-random.ts';
