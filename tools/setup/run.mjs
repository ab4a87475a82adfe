// Starts one of the repository's TypeScript programs on the pinned Node, whatever Node the machine has.
// Plain JavaScript without dependencies, because on a fresh clone nothing is installed yet: it installs the npm
// packages when the lock file changed since the last install, says so, and costs a few milliseconds otherwise.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const pinnedNode = join(root, 'node_modules', 'node', 'bin', 'node');
const marker = join(root, 'node_modules', '.atoll-installed');

function ensurePackages() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const present = existsSync(marker) ? readFileSync(marker, 'utf8') : '';
  if (present === wanted && existsSync(pinnedNode)) return;
  console.error('npm packages: installing what package-lock.json names (about a minute, only when it changed) …');
  const startedAt = Date.now();
  const result = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0) {
    console.error(
      'npm packages: "npm ci" failed; its output is above. Check the network and the npm configuration, then run this again.',
    );
    process.exit(1);
  }
  writeFileSync(marker, wanted);
  console.error(`npm packages: installed in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}

ensurePackages();
const [program, ...args] = process.argv.slice(2);
const path = [join(root, 'node_modules', 'node', 'bin'), join(root, 'node_modules', '.bin'), process.env.PATH].join(
  ':',
);
const child = spawn(pinnedNode, [join(root, program), ...args], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: path,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --disable-warning=ExperimentalWarning`.trim(),
  },
});
// The terminal sends Ctrl-C to the whole group, so the child gets it by itself; a signal sent to this process alone is handed on.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 1)));
