import { expect, it } from 'vitest';
import { findMissingPaths } from './find-missing-paths.ts';

it('names the paths that do not exist, once, and leaves prose alone', () => {
  const text =
    'see `apps/agent/src/main.ts`, [that](docs/adr/0001-x.md) and `libs/gone.ts` and `libs/gone.ts`; `npm test`, apps/other';
  const known = new Set(['apps/agent/src/main.ts']);
  expect(findMissingPaths(text, (path) => known.has(path))).toEqual(['docs/adr/0001-x.md', 'libs/gone.ts']);
});
