import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build, type BuildOptions } from 'esbuild';

/**
 * A CommonJS file: an ES module that imports `node:http` makes Node evaluate every getter of it, which loads a second HTTP
 * client and with the loader of ES modules costs 10 MiB of 60 (measured idle, Node 24).
 */
export const AGENT_BUNDLE = 'dist/agent/agent.cjs';
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
 * Bundles the agent of the tree `root` (default: this one) into one file that needs Node alone; answers its size in bytes.
 * Throws when it is larger than an agent may be.
 */
export async function buildAgent(root = '.', format: 'cjs' | 'esm' = 'cjs'): Promise<number> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const outfile = join(root, FORMATS[format].outfile);
  await mkdir(dirname(outfile), { recursive: true });
  const { metafile } = await build({
    absWorkingDir: resolve(root),
    entryPoints: ['apps/agent/src/main.ts'],
    bundle: true,
    minify: true,
    keepNames: true,
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
  const { size } = await stat(outfile);
  assertLight(size);
  return size;
}

/** Throws with the way to find out what grew. */
export function assertLight(bytes: number): void {
  if (bytes <= BUNDLE_LIMIT_BYTES) return;
  throw new Error(
    `the agent's bundle has ${bytes} bytes, more than ${BUNDLE_LIMIT_BYTES}: dist/agent/metafile.json tells what is in it`,
  );
}
