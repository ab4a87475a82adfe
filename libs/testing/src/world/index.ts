export * from './draw-snapshot.ts';
export * from './make-facts.ts';
export * from './play-seed.ts';
