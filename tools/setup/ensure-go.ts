import { readFile, writeFile } from 'node:fs/promises';
import { findCommand } from './ensure-debian-packages.ts';
import { reportProgress, type Log } from './report-progress.ts';
import { runCommand, tryCommand } from './run-command.ts';

export interface GoTools {
  path: string;
  env: NodeJS.ProcessEnv;
}

const MINIMUM: readonly [number, number] = [1, 24];
const BACKPORTS_LIST = '/etc/apt/sources.list.d/atoll-backports.list';

/** Major and minor of `go env GOVERSION`, e.g. "go1.26.8" → [1, 26]. */
export function parseGoVersion(text: string): [number, number] | undefined {
  const match = /go(\d+)\.(\d+)/.exec(text);
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

export function isOldGo([major, minor]: readonly [number, number]): boolean {
  return major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1]);
}

/**
 * The Go command to build with: the machine's own; when there is none, Debian's `golang-go` from
 * bookworm-backports. One older than go.mod asks for may fetch the toolchain that go.mod names.
 */
export async function ensureGo(log: Log): Promise<GoTools> {
  const path = (await findGo()) ?? (await installGo(log));
  const version = await tryCommand([path, 'env', 'GOVERSION'], { env: { ...process.env, GOTOOLCHAIN: 'local' } });
  const parsed = parseGoVersion(version.stdout);
  const env: NodeJS.ProcessEnv = { ...process.env };
  if (parsed === undefined || isOldGo(parsed)) env['GOTOOLCHAIN'] = 'auto';
  return { path, env };
}

async function findGo(): Promise<string | undefined> {
  return (await findCommand('go')) ?? (await findCommand('/usr/local/go/bin/go'));
}

async function installGo(log: Log): Promise<string> {
  if (process.getuid?.() !== 0) throw new Error('Go 1.24 or newer is missing, and installing it needs root');
  await reportProgress(log, 'installing Go from bookworm-backports', async () => {
    const release = await readFile('/etc/os-release', 'utf8');
    const suite = /^VERSION_CODENAME=(\w+)/m.exec(release)?.[1] ?? 'bookworm';
    await writeFile(BACKPORTS_LIST, `deb ${await debianMirror()} ${suite}-backports main\n`);
    await runCommand(['apt-get', '-qq', 'update']);
    await runCommand([
      'apt-get',
      '-qq',
      'install',
      '-y',
      '--no-install-recommends',
      '-t',
      `${suite}-backports`,
      'golang-go',
    ]);
  });
  const path = await findGo();
  if (path === undefined) throw new Error('golang-go was installed, and yet there is no go command');
  return path;
}

const SOURCE_FILES = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'];

/** The mirror that this machine's apt uses for Debian itself. */
export async function debianMirror(): Promise<string> {
  for (const file of SOURCE_FILES) {
    const text = await readFile(file, 'utf8').catch(() => '');
    const mirror = parseDebianMirror(text);
    if (mirror !== undefined) return mirror;
  }
  throw new Error(`no Debian mirror is named in ${SOURCE_FILES.join(' or ')}`);
}

/** First mirror named in a sources file, of the deb822 form ("URIs: …") or of the one-line form ("deb … suite main"). */
export function parseDebianMirror(text: string): string | undefined {
  return /^URIs:\s*(\S+)/m.exec(text)?.[1] ?? /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)/m.exec(text)?.[1];
}
