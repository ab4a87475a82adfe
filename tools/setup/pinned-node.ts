import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Path of the Node that package.json pins, whichever Node runs this. */
export function pinnedNode(): string {
  const manifest = createRequire(import.meta.url).resolve('node/package.json');
  return join(manifest, '..', 'bin', 'node');
}
