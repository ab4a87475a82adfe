// `npm run build`: the hub compiled into dist/, the agent bundled into one file.
import { buildAll } from './build-all.ts';

const startedAt = performance.now();
await buildAll();
console.log(`built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
