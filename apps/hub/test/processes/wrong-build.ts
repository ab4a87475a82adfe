/**
 * Builds of the hub with a bug on purpose: the compiled hub is copied and one text of it replaced. When the text is not
 * there exactly once any more the test says so, in place of trying out a hub that has no bug.
 */
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export interface Patch {
  /** Below dist/. */
  readonly file: string;
  readonly find: string;
  readonly replaceBy: string;
}

/** Returns the folder to start the wrong hub in. Needs `npm run build` before, as every test of processes. */
export async function makeWrongBuild(folder: string, patches: readonly Patch[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  await cp('dist', join(folder, 'dist'), { recursive: true });
  await cp('package.json', join(folder, 'package.json'));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  for (const patch of patches) await applyPatch(folder, patch);
  return folder;
}

async function applyPatch(folder: string, { file, find, replaceBy }: Patch): Promise<void> {
  const path = join(folder, 'dist', file);
  const text = await readFile(path, 'utf8');
  const places = text.split(find).length - 1;
  if (places !== 1) throw new Error(`the patch no longer fits: ${file} has ${places} times ${find}`);
  await writeFile(
    path,
    text.replace(find, () => replaceBy),
  );
}
