import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../setup/run-command.ts';

/** Sources that the schema depends on. */
const SOURCES = ['apps/hub/src', 'libs/domain/src', 'libs/protocol/src', 'migrations'];
const PACKAGE = {
  type: 'module',
  imports: { '#domain': './libs/domain/src/index.js', '#protocol': './libs/protocol/src/index.js' },
};

/**
 * The schema as SDL, sorted. Compiles the hub (decorators need it) into a folder of its own, so that neither an old build
 * is taken for the present one nor a running hub loses its files. About two seconds.
 */
export async function printHubSchema(root: string): Promise<string> {
  const folder = join(root, 'node_modules', '.cache', `atoll-schema-${process.pid}`);
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(join(folder, 'package.json'), JSON.stringify(PACKAGE));
    const cwd = root;
    await runCommand(['swc', ...SOURCES, '--out-dir', folder, '--config-file', '.swcrc', '--quiet'], { cwd });
    return await runCommand(['node', join(folder, 'apps/hub/src/print-schema.js')], { cwd });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
