import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathExists } from '../setup/cache-folder.ts';
import { debianMirror } from '../setup/ensure-go.ts';
import { runCommand, tryCommand } from '../setup/run-command.ts';

/** Why an image cannot be made: its suite does not serve the packages now. */
export class PackagesUnavailable extends Error {}

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const APT_FOLDERS = [
  'etc/apt/sources.list.d',
  'etc/apt/preferences.d',
  'etc/apt/trusted.gpg.d',
  'var/lib/apt/lists/partial',
  'var/cache/apt/archives/partial',
];
const NOT_NEEDED = ['doc', 'man', 'locale', 'i18n', 'zoneinfo', 'bash-completion', 'lintian'];
const DOWNLOAD_TIMEOUT_MS = 300_000;
const USER = 999;

/**
 * Unpacks packages and all they depend on from one Debian suite into a folder, by an apt state of its own: the
 * machine's own packages and sources stay as they are.
 * @throws PackagesUnavailable when the suite does not serve them
 */
export async function unpackDebianRoot(root: string, suite: string, packages: readonly string[]): Promise<void> {
  const apt = `${root}.apt`;
  await rm(apt, { recursive: true, force: true });
  for (const folder of APT_FOLDERS) await mkdir(join(apt, folder), { recursive: true });
  await writeFile(join(apt, 'status'), '');
  const mirror = await debianMirror();
  const suites = suite === 'experimental' ? ['sid', 'experimental'] : [suite]; // experimental alone is not complete
  const sources = suites.map((name) => `deb [signed-by=${KEYRING}] ${mirror} ${name} main\n`);
  await writeFile(join(apt, 'etc/apt/sources.list'), sources.join(''));
  const settings = {
    Dir: apt,
    'Dir::State::status': join(apt, 'status'),
    'APT::Default-Release': suite,
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const aptGet = async (...args: string[]) => {
    const result = await tryCommand(['apt-get', '-y', ...flags, ...args], { timeoutMs: DOWNLOAD_TIMEOUT_MS });
    if (result.exitCode === 0) return;
    const tail = result.stderr.trim().split('\n').slice(-5).join('\n');
    throw new PackagesUnavailable(`Debian ${suite} does not serve ${packages.join(' ')}: ${tail}`);
  };
  await aptGet('update');
  await aptGet('--download-only', 'install', ...packages);
  await mkdir(root, { recursive: true });
  const archives = join(apt, 'var/cache/apt/archives');
  const debs = (await readdir(archives)).filter((name) => name.endsWith('.deb'));
  for (const deb of debs) await runCommand(['dpkg-deb', '--extract', join(archives, deb), root]);
  await rm(apt, { recursive: true, force: true });
  await completeRoot(root);
}

/** What a Debian system gets at installation time, and what a container never needs. */
async function completeRoot(root: string): Promise<void> {
  for (const name of NOT_NEEDED) await rm(join(root, 'usr/share', name), { recursive: true, force: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    // Debian's merged /usr: without these the ELF loader is not found, and exec says "no such file".
    const merged = (await pathExists(join(root, 'usr', name))) && !(await pathExists(join(root, name)));
    if (merged) await symlink(`usr/${name}`, join(root, name));
  }
  if (!(await pathExists(join(root, 'usr/bin/awk'))) && (await pathExists(join(root, 'usr/bin/mawk')))) {
    await symlink('mawk', join(root, 'usr/bin/awk'));
  }
  for (const name of ['data', 'tmp']) {
    await rm(join(root, name), { recursive: true, force: true });
    await runCommand(['install', '-d', '-m', '1777', join(root, name)]);
  }
  await mkdir(join(root, 'etc'), { recursive: true });
  await writeFile(join(root, 'etc/passwd'), `root:x:0:0::/:/bin/sh\natoll:x:${USER}:${USER}::/data:/bin/sh\n`);
  await writeFile(join(root, 'etc/group'), `root:x:0:\natoll:x:${USER}:\n`);
  await writeFile(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}
