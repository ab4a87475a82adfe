import { pathExists } from './cache-folder.ts';
import { reportProgress, type Log } from './report-progress.ts';
import { runCommand } from './run-command.ts';

const SEARCH_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Absolute path of a command in PATH or the system folders, or undefined. */
export async function findCommand(name: string): Promise<string | undefined> {
  if (name.startsWith('/')) return (await pathExists(name)) ? name : undefined;
  for (const folder of [...(process.env['PATH'] ?? '').split(':'), ...SEARCH_FOLDERS]) {
    if (folder !== '' && (await pathExists(`${folder}/${name}`))) return `${folder}/${name}`;
  }
  return undefined;
}

/**
 * Installs Debian packages whose command is missing.
 * @param commands command name or absolute path of a file → the Debian package that brings it
 * @throws when something is missing and cannot be installed here; the message names the packages
 */
export async function ensureDebianPackages(commands: Readonly<Record<string, string>>, log: Log): Promise<void> {
  const missing = new Set<string>();
  for (const [command, packageName] of Object.entries(commands)) {
    if ((await findCommand(command)) === undefined) missing.add(packageName);
  }
  if (missing.size === 0) return;
  const names = [...missing];
  if (process.getuid?.() !== 0 || (await findCommand('apt-get')) === undefined) {
    throw new Error(`these Debian packages are missing and need root to be installed: ${names.join(' ')}`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=120'];
  await reportProgress(log, `installing Debian packages ${names.join(' ')}`, async () => {
    await runCommand([...apt, 'update'], { env, timeoutMs: 180_000 });
    await runCommand([...apt, 'install', '-y', '--no-install-recommends', ...names], { env, timeoutMs: 300_000 });
  });
}
