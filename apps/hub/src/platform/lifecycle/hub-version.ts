import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The version in the package.json nearest above this file, compiled or not. */
export async function readHubVersion(): Promise<string> {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    const found = await access(file).then(
      () => true,
      () => false,
    );
    if (found) return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version;
  }
  throw new Error('no package.json above the hub');
}
