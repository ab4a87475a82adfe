import { cp, mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, contentKey, makeOnce } from '../setup/cache-folder.ts';
import { ensureGo } from '../setup/ensure-go.ts';
import { reportProgress, type Log } from '../setup/report-progress.ts';
import { runCommand } from '../setup/run-command.ts';
import { PAUSE_REFERENCE } from './cluster-spec.ts';
import { packLayer, writeImage } from './oci-image.ts';

export interface KubernetesBinary {
  /** All parts of Kubernetes in one; its first argument names the part. */
  path: string;
  /** The same binary under the name that makes it behave as kubectl. */
  kubectlPath: string;
  /** OCI tar of the image that holds a pod's sandbox open. */
  pauseImage: string;
}

const SOURCES = new URL('./kubernetes/', import.meta.url).pathname;
const BUILD_TIMEOUT_MS = 1_800_000;
const VERSION_VARIABLES = [
  'k8s.io/component-base/version.gitVersion=v1.34.4',
  'k8s.io/component-base/version.gitMajor=1',
  'k8s.io/component-base/version.gitMinor=34',
];
const LINKER_FLAGS = ['-s', '-w', ...VERSION_VARIABLES.map((variable) => `-X ${variable}`)].join(' ');

/** Builds the Kubernetes binary once per machine and state of its sources: about five minutes on two cores. */
export async function ensureKubernetesBinary(log: Log = () => {}): Promise<KubernetesBinary> {
  const folder = join(cacheFolder(), 'kubernetes', await sourcesKey());
  const progress: BuildProgress = { fetched: 0, compiled: 0 };
  await reportProgress(
    log,
    'building Kubernetes 1.34 (once per machine, about five minutes on two cores)',
    () => makeOnce(folder, (making) => buildAll(making, progress, log)),
    () => describeProgress(progress),
  );
  return {
    path: join(folder, 'kubernetes'),
    kubectlPath: join(folder, 'kubectl'),
    pauseImage: join(folder, 'pause.tar'),
  };
}

async function sourcesKey(): Promise<string> {
  const names = (await readdir(SOURCES, { recursive: true })).filter((name) => /\.(go|mod|sum)$/.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(SOURCES, name))));
  return contentKey([LINKER_FLAGS, PAUSE_REFERENCE, process.arch, ...names, ...texts]);
}

interface BuildProgress {
  fetched: number;
  compiled: number;
}

function describeProgress({ fetched, compiled }: BuildProgress): string {
  if (fetched + compiled === 0) return ''; // perhaps another run builds it, and this one waits
  return `${fetched} modules fetched, ${compiled} packages compiled`;
}

async function buildAll(folder: string, progress: BuildProgress, log: Log): Promise<void> {
  await mkdir(folder, { recursive: true });
  const go = await ensureGo(log);
  const count = (line: string) => {
    if (line.startsWith('go: downloading')) progress.fetched += 1;
    else if (!line.startsWith('#')) progress.compiled += 1;
  };
  const compile = (source: string, output: string) =>
    runCommand([go.path, 'build', '-v', '-trimpath', '-ldflags', LINKER_FLAGS, '-o', join(folder, output), source], {
      cwd: SOURCES,
      env: { ...go.env, CGO_ENABLED: '0' },
      timeoutMs: BUILD_TIMEOUT_MS,
      onStderrLine: count,
    });
  await compile('./pause', 'pause');
  await compile('.', 'kubernetes');
  await symlink('kubernetes', join(folder, 'kubectl'));
  await buildPauseImage(folder);
}

async function buildPauseImage(folder: string): Promise<void> {
  const root = join(folder, 'pause-root');
  const layerPath = join(folder, 'pause-layer.tar');
  await mkdir(root);
  await cp(join(folder, 'pause'), join(root, 'pause'));
  const layer = await packLayer(root, layerPath);
  await writeImage(join(folder, 'pause.tar'), {
    reference: PAUSE_REFERENCE,
    layers: [layer],
    entrypoint: ['/pause'],
    user: 65535,
  });
  await rm(root, { recursive: true });
  await rm(layerPath);
}
