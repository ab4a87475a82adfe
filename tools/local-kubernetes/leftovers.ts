/*
 * What a run that is gone has left on this machine, and its removal: cgroup folders, bridge, routes, cluster folder.
 * Decided from the lock of each index alone: the kernel drops it when the run's process tree has ended.
 * Invariant: nothing of an index is removed unless its lock could be taken; otherwise a running cluster would lose its files.
 */
import { readdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathExists } from '../setup/cache-folder.ts';
import { ifFileLocked } from '../setup/hold-file-lock.ts';
import { tryCommand } from '../setup/run-command.ts';
import { clusterAddresses, HIGHEST_INDEX } from './addresses.ts';
import { removeClusterCgroups } from './cgroups.ts';
import { clusterFolders, lockFile } from './cluster-spec.ts';
import { removeBridge } from './network.ts';

const REMOVAL_TIMEOUT_MS = 15_000;

/** Removes all of one index. The caller holds its lock. */
export async function removeCluster(index: number): Promise<void> {
  await removeBridge(index);
  const deadline = performance.now() + REMOVAL_TIMEOUT_MS;
  for (;;) {
    try {
      await removeClusterCgroups(index);
      await rm(clusterFolders(index).root, { recursive: true, force: true });
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error; // killed processes take a moment to leave
      await sleep(100);
    }
  }
}

/** Removes what dead runs left at any index. Indexes in use stay untouched. */
export async function removeLeftovers(): Promise<void> {
  const links = await readdir('/sys/class/net');
  for (let index = 1; index <= HIGHEST_INDEX; index += 1) {
    const left = links.includes(clusterAddresses(index).bridge) || (await pathExists(clusterFolders(index).root));
    if (left) await removeDeadCluster(index);
  }
}

/** Removes all of one index, unless somebody uses it: another run may have taken it at this moment. */
export async function removeDeadCluster(index: number): Promise<void> {
  await ifFileLocked(lockFile(index), () => removeCluster(index));
}

export async function isInUse(index: number): Promise<boolean> {
  return (await tryCommand(['flock', '-n', lockFile(index), 'true'])).exitCode !== 0;
}
