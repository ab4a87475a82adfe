import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { asDataSetId, type KubeObject, type RedisClusterSpec } from '#domain';
import { CURRENT_RENDER_VERSION, nameObjects, renderChildren, resolveSpec } from '#manifests';

/**
 * The real scripts, run by the machine's sh, with a redis-cli that answers from files and a redis-server that only ends.
 * Paths are moved into a temporary folder by replacing them in the scripts' text.
 */
const dataSetId = asDataSetId('0192-guard');
export const GUARD = {
  dataSetId,
  names: nameObjects('cache', dataSetId),
  podIp: '10.0.0.10',
  passwords: { atoll: 'canaryA1', replication: 'canaryB2', sentinel: 'canaryC3', app: 'canaryD4' },
} as const;
const PLACES = { '/etc/atoll': 'etc', '/run/atoll': 'run', '/data': 'data', '/dev/termination-log': 'last-words' };

const FAKE_CLI = `#!/bin/sh
printf '%s\\n' "$*" >> "$FAKE/arguments"
env >> "$FAKE/arguments"
tee -a "$FAKE/questions" > "$FAKE/stdin"
if [ -f "$FAKE/asked.$2" ] && [ -f "$FAKE/then.$2" ]; then exec cat "$FAKE/then.$2"; fi
: > "$FAKE/asked.$2"
exec cat "$FAKE/answer.$2"
`;

/** A clock that moves a second each time it is read. */
const FAKE_DATE = `#!/bin/sh
echo >> "$FAKE/seconds"
wc -l < "$FAKE/seconds"
`;

export interface GuardScene {
  readonly spec: RedisClusterSpec;
  /** The pod that the record GUARD.names. */
  readonly recorded?: string;
  /** What the record says of pods that come back to old volumes. */
  readonly returning?: Readonly<Record<string, number>>;
  readonly disk?: Readonly<Record<string, string | Buffer>>;
  /** Answer per host. A host that is not named does not answer. */
  readonly answers?: Readonly<Record<string, string>>;
  /** Answer per host from the second question on. */
  readonly later?: Readonly<Record<string, string>>;
  readonly without?: keyof typeof GUARD.passwords;
  /** Further files of the Secret. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** What /run/atoll holds of an earlier start. */
  readonly state?: Readonly<Record<string, string>>;
  /** The clock stands still, where it else moves a second each time it is read. */
  readonly clockStands?: boolean;
  /** Further programs by name, in place of the machine's. */
  readonly programs?: Readonly<Record<string, string>>;
  /** In place of a redis-server that only says its arguments. */
  readonly server?: string;
  /** The process that counts as the container's server. Without it there is none. */
  readonly serverPid?: number;
}

const dataOf = (objects: readonly KubeObject[], name: string): Record<string, string> =>
  objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)?.['data'] as Record<
    string,
    string
  >;

const writeFiles = (folder: string, files: Readonly<Record<string, string | Buffer>>): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
};

const serverOf = ({ server }: GuardScene): string => server ?? '#!/bin/sh\necho "server $*"\n';

const dateOf = ({ clockStands }: GuardScene): string => (clockStands === true ? '#!/bin/sh\necho 1\n' : FAKE_DATE);

const processOf = ({ serverPid }: GuardScene, folder: string): string =>
  serverPid === undefined ? join(folder, 'no-process') : `/proc/${serverPid}`;

const prepare = (scene: GuardScene): { folder: string; move: (text: string) => string } => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const move = (text: string) =>
    Object.entries(PLACES).reduce(
      (moved, [path, place]) => moved.replaceAll(new RegExp(`(?<![\\w/.])${path}\\b`, 'g'), join(folder, place)),
      text.replace('SERVER_PROCESS=/proc/1\n', `SERVER_PROCESS=${processOf(scene, folder)}\n`),
    );
  const objects = renderChildren({
    name: 'cache',
    namespace: 'shop',
    dataSetId: GUARD.dataSetId,
    spec: resolveSpec(scene.spec),
    renderVersion: CURRENT_RENDER_VERSION,
    recordedPrimary: scene.recorded,
    returning: scene.returning,
  });
  const scripts = Object.entries(dataOf(objects, GUARD.names.scripts)).map(
    ([name, text]) => [name, move(text)] as const,
  );
  const settings = dataOf(objects, GUARD.names.config);
  settings['settings'] = settings['settings']?.replace(/PATIENCE_S=.*/, 'PATIENCE_S=3') ?? '';
  const credentials: Record<string, string> = { ...GUARD.passwords, ...scene.secrets };
  if (scene.without) delete credentials[scene.without];
  writeFiles(join(folder, 'etc/scripts'), Object.fromEntries(scripts));
  writeFiles(join(folder, 'etc/config'), settings);
  writeFiles(join(folder, 'etc/credentials'), credentials);
  writeFiles(join(folder, 'data'), scene.disk ?? {});
  writeFiles(join(folder, 'run'), scene.state ?? {});
  const fakes = Object.entries(scene.answers ?? {}).map(([host, text]) => [`answer.${host}`, text] as const);
  const later = Object.entries(scene.later ?? {}).map(([host, text]) => [`then.${host}`, text] as const);
  const programs = {
    'redis-cli': FAKE_CLI,
    'redis-server': serverOf(scene),
    sleep: '#!/bin/sh\n',
    date: dateOf(scene),
    ...scene.programs,
  };
  writeFiles(folder, { 'last-words': '' });
  writeFiles(join(folder, 'bin'), { ...Object.fromEntries([...fakes, ...later]), ...programs });
  for (const name of Object.keys(programs)) chmodSync(join(folder, 'bin', name), 0o755);
  for (const place of ['run', 'data']) mkdirSync(join(folder, place), { recursive: true });
  return { folder, move };
};

export interface GuardRun {
  /** As the pod tells its probes: primary, replica, or empty when it did not start. */
  readonly role: string;
  readonly replicaof: string | undefined;
  readonly appendonly: string | undefined;
  readonly status: number | null;
  /** Output, and the arguments and environment of every redis-cli. */
  readonly told: string;
  readonly conf: string;
  readonly folder: string;
  /** A file under the folder; empty when there is none. */
  readonly read: (name: string) => string;
}

/** Runs one entrypoint to its end, and answers what it made and told. Call within a test: the folder goes with it. */
export const startGuard = (
  scene: GuardScene,
  script = 'start-redis.sh',
  pod = `${GUARD.names.redis}-0`,
  args: readonly string[] = [],
): GuardRun => {
  const { folder } = prepare(scene);
  const result = spawnSync('/bin/sh', [join(folder, 'etc/scripts', script), ...args], {
    encoding: 'utf8',
    timeout: 20_000,
    env: {
      PATH: `${folder}/bin:/usr/bin:/bin`,
      FAKE: `${folder}/bin`,
      POD_IP: GUARD.podIp,
      POD_NAME: pod,
      MAXMEMORY: '1024',
    },
  });
  const read = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '');
  const conf = read('run/redis.conf');
  const told = `${result.stdout}${result.stderr}${read('bin/arguments')}`;
  return {
    role: read('run/role').trim(),
    replicaof: /^replicaof (\S+)/m.exec(conf)?.[1],
    appendonly: conf.match(/^appendonly .*$/gm)?.at(-1),
    status: result.status,
    told,
    conf,
    folder,
    read,
  };
};
