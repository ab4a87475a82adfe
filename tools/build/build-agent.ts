import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { assertAscii, writeCodeCache } from './write-code-cache.ts';

/**
 * A CommonJS file: an ES module that imports `node:http` makes Node evaluate every getter of it, which loads a second HTTP
 * client and with the loader of ES modules costs 10 MiB of 60 (measured idle, Node 24).
 */
export const AGENT_BUNDLE = 'dist/agent/agent.cjs';
/** What starts it: apps/agent/src/start.ts, beside the bundle and its code cache. */
export const AGENT_START = 'dist/agent/start.cjs';
/** What V8 made of the bundle. */
export const AGENT_CACHE = 'dist/agent/agent.cache';
/** Where the bundle of release 0.1.0 is built, whose entry awaits at its top level. */
export const AGENT_MODULE_BUNDLE = 'dist/agent/agent.mjs';

/** An agent is small (04 "Light"); what would make it larger is looked at before it lands. */
export const BUNDLE_LIMIT_BYTES = 3_000_000;

/** Some dependencies still call require(); an ES module has none of its own. */
const REQUIRE_BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

const FORMATS: Readonly<Record<'cjs' | 'esm', BuildOptions & { readonly outfile: string }>> = {
  cjs: { format: 'cjs', outfile: AGENT_BUNDLE },
  esm: { format: 'esm', outfile: AGENT_MODULE_BUNDLE, banner: { js: REQUIRE_BANNER } },
};

/**
 * Bundles the agent of the tree `root` (default: this one) into one file that needs Node alone, with what starts it faster
 * beside it; answers their size in bytes. Throws when they are larger than an agent may be.
 */
export async function buildAgent(root = '.', format: 'cjs' | 'esm' = 'cjs'): Promise<number> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const outfile = join(root, FORMATS[format].outfile);
  await mkdir(dirname(outfile), { recursive: true });
  const { metafile } = await build({
    absWorkingDir: resolve(root),
    entryPoints: ['apps/agent/src/main.ts'],
    bundle: true,
    // Names stay: an error's class is asked for by its name, and stacks can be read. Short ones with the true ones set at run time
    // (keepNames) cost 0.7 MiB and a tenth of the CPU time of a start.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'node',
    target: 'node24',
    loader: { '.yaml': 'text' },
    define: { 'process.env.ATOLL_BUILD_VERSION': JSON.stringify(version) },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    ...FORMATS[format],
  });
  await writeFile(join(dirname(outfile), 'metafile.json'), JSON.stringify(metafile));
  const size = (await stat(outfile)).size + (format === 'cjs' ? await buildStart(root) : 0);
  assertLight(size);
  return size;
}

/** What starts the bundle, and its code cache; answers their size in bytes. */
async function buildStart(root: string): Promise<number> {
  const at = (path: string): string => resolve(root, path);
  const [program, start, cache] = [at(AGENT_BUNDLE), at(AGENT_START), at(AGENT_CACHE)];
  assertAscii(program);
  await build({
    absWorkingDir: resolve(root),
    entryPoints: ['apps/agent/src/start.ts'],
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    outfile: start,
    logLevel: 'warning',
  });
  writeCodeCache(program, cache);
  return (await stat(start)).size + (await stat(cache)).size;
}

/** Throws with the way to find out what grew. */
export function assertLight(bytes: number): void {
  if (bytes <= BUNDLE_LIMIT_BYTES) return;
  throw new Error(
    `the agent's bundle has ${bytes} bytes, more than ${BUNDLE_LIMIT_BYTES}: dist/agent/metafile.json tells what is in it`,
  );
}
