/**
 * A released agent as it was: the tree of its commit out of the clone's own history, its bundle built with the packages
 * of today, its charts as they were. A shallow clone fetches that one commit.
 */
import { mkdir, mkdtemp, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { AGENT_MODULE_BUNDLE, buildAgent } from '../tools/build/build-agent.ts';
import { buildAgentImage } from '../tools/local-kubernetes/index.ts';
import { runCommand, tryCommand } from '../tools/setup/run-command.ts';

export interface ReleasedAgent {
  readonly version: string;
  /** Folder of the whole tree of that release; the charts are in `helm/`. */
  readonly tree: string;
  readonly image: { readonly path: string; readonly reference: string };
}

interface Release {
  readonly version: string;
  readonly commit: string;
}

export async function buildReleasedAgent(version: string): Promise<ReleasedAgent> {
  const releases = JSON.parse(await readFile('releases.json', 'utf8')) as Release[];
  const commit = releases.find((release) => release.version === version)?.commit;
  if (commit === undefined) throw new Error(`releases.json knows no release ${version}`);
  await ensureCommit(commit);
  const tree = await mkdtemp(join(tmpdir(), `atoll-${version}-`));
  const archive = join(tree, 'tree.tar');
  await runCommand(['git', 'archive', '--format=tar', `--output=${archive}`, commit]);
  await mkdir(join(tree, 'dist'), { recursive: true });
  await runCommand(['tar', '-xf', archive, '-C', tree]);
  await symlink(resolve('node_modules'), join(tree, 'node_modules'));
  await buildAgent(tree, 'esm');
  return { version, tree, image: await buildAgentImage({ bundlePath: join(tree, AGENT_MODULE_BUNDLE) }) };
}

async function ensureCommit(commit: string): Promise<void> {
  const isKnown = async () => (await tryCommand(['git', 'cat-file', '-e', `${commit}^{tree}`])).exitCode === 0;
  if (await isKnown()) return;
  const fetched = await tryCommand(['git', 'fetch', '--depth=1', 'origin', commit]);
  if (await isKnown()) return;
  throw new Error(
    `commit ${commit} of the release is not in this clone, and origin does not give it: ${fetched.stderr}`,
  );
}
