import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathExists } from '../setup/cache-folder.ts';

const CGROUPS = '/sys/fs/cgroup';
const V1_CONTROLLERS = ['blkio', 'cpu', 'cpuacct', 'cpuset', 'devices', 'freezer', 'memory', 'pids', 'systemd'];
const V2_CONTROLLERS = '+cpu +cpuset +memory +pids +io';

/** Makes a node's folder in each hierarchy: the kubelet wants it there beforehand (cgroup v1), or with its controllers (v2). */
export async function makeNodeCgroup(name: string): Promise<void> {
  if (await pathExists(join(CGROUPS, 'cgroup.controllers'))) {
    await writeFile(join(CGROUPS, 'cgroup.subtree_control'), V2_CONTROLLERS);
    await mkdir(join(CGROUPS, name), { recursive: true });
    await writeFile(join(CGROUPS, name, 'cgroup.subtree_control'), V2_CONTROLLERS);
    return;
  }
  for (const controller of V1_CONTROLLERS) {
    if (await pathExists(join(CGROUPS, controller))) await mkdir(join(CGROUPS, controller, name), { recursive: true });
  }
}

/** Removes the folders of a cluster's dead nodes from all hierarchies. Throws while a process is still in one of them. */
export async function removeClusterCgroups(index: number): Promise<void> {
  const isOurs = (name: string) => name.startsWith(`atoll-${index}-`);
  const top = await readdir(CGROUPS, { withFileTypes: true }).catch(() => []);
  for (const entry of top.filter((candidate) => candidate.isDirectory())) {
    const path = join(CGROUPS, entry.name);
    if (isOurs(entry.name)) await removeTree(path);
    const names = await readdir(path).catch(() => []);
    for (const name of names.filter(isOurs)) await removeTree(join(path, name));
  }
}

async function removeTree(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(path, entry.name));
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
