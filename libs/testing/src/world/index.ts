export * from './draw-snapshot.ts';
export * from './make-facts.ts';
export * from './play-seed.ts';
export * from './play-story.ts';
export type { PlanWorld } from './step-world.ts';
export { makeRandom, type SeededRandom } from './seeded-random.ts';
