import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

export const AGENT_BUNDLE = 'dist/agent/agent.mjs';

/** Some dependencies still call require(); an ES module has none of its own. */
const REQUIRE_BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/**
 * Bundles the agent into one file that needs Node alone, `dist/agent/agent.mjs` in the tree `root` (default: this one);
 * answers its size in bytes.
 */
export async function buildAgent(root = '.'): Promise<number> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const outfile = join(root, AGENT_BUNDLE);
  await mkdir(dirname(outfile), { recursive: true });
  const { metafile } = await build({
    absWorkingDir: resolve(root),
    entryPoints: ['apps/agent/src/main.ts'],
    outfile: AGENT_BUNDLE,
    bundle: true,
    minify: true,
    keepNames: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    banner: { js: REQUIRE_BANNER },
    loader: { '.yaml': 'text' },
    define: { 'process.env.ATOLL_BUILD_VERSION': JSON.stringify(version) },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  await writeFile(join(dirname(outfile), 'metafile.json'), JSON.stringify(metafile));
  return (await stat(outfile)).size;
}
