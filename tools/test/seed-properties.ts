/**
 * Property tests draw the same cases in each run, so that a red run is about the change at hand. Other cases:
 * `ATOLL_PROPERTY_SEED=7 npx vitest run`; a failure prints its own seed and path.
 */
import fc from 'fast-check';

const DEFAULT_SEED = 20_261_130;

fc.configureGlobal({ seed: Number(process.env['ATOLL_PROPERTY_SEED'] ?? DEFAULT_SEED) });
