import { join } from 'node:path';

/** All a cluster's runner needs to know; handed to it as JSON in its one argument. */
export interface ClusterSpec {
  index: number;
  name: string;
  nodes: number;
  /** A dead node is NotReady after 8 s and its pods are evicted 10 s later, instead of 50 s and 300 s. */
  shortGracePeriods: boolean;
  /** Path of the one binary of all Kubernetes parts. */
  binary: string;
  pauseImage: string;
  images: string[];
  /** Lives on when the process that started it ends; otherwise the cluster ends with it. */
  detached: boolean;
}

/** Holds one folder and one lock file for each index in use on this machine, whoever uses it. */
export const STATE_FOLDER = '/var/lib/atoll/local-kubernetes';
export const PAUSE_REFERENCE = 'docker.io/atoll/pause:1';

export interface ClusterFolders {
  root: string;
  pki: string;
  logs: string;
  volumes: string;
  kubeconfig: string;
  controlSocket: string;
  specFile: string;
}

export function clusterFolders(index: number): ClusterFolders {
  const root = join(STATE_FOLDER, String(index));
  return {
    root,
    pki: join(root, 'pki'),
    logs: join(root, 'logs'),
    volumes: join(root, 'volumes'),
    kubeconfig: join(root, 'kubeconfig'),
    controlSocket: join(root, 'control.sock'),
    specFile: join(root, 'cluster.json'),
  };
}

export function lockFile(index: number): string {
  return join(STATE_FOLDER, `${index}.lock`);
}

export function nodeFolder(index: number, node: number): string {
  return join(STATE_FOLDER, String(index), `node${node}`);
}

export function nodeName(clusterName: string, node: number): string {
  return `${clusterName}-${node}`;
}
