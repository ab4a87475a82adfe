/**
 * Chooses between a kubeconfig file and the pod's service account. client-node's KubeConfig is not used: it alone costs
 * 37 MB resident (its module pulls every generated API class), against 1.5 MB for a YAML parser that is only loaded
 * when there is a kubeconfig.
 */
import { performance } from 'node:perf_hooks';
import { connectInCluster } from './connect-in-cluster.ts';
import type { KubeConnection } from './kube-connection.ts';
import { connectByKubeconfig } from './connect-by-kubeconfig.ts';

export interface LoadKubeConnectionOptions {
  /** undefined: the pod's service account. A list of files (`a:b`) is not supported: the first counts. */
  readonly kubeconfigPath?: string;
  /** Default: current-context of the file. */
  readonly context?: string;
  /** Monotonic time in ms; default performance.now. */
  readonly monotonicMs?: () => number;
  /** Default process.env; read for KUBERNETES_SERVICE_HOST / _PORT. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Throws an Error that says which file or field is missing. */
export async function loadKubeConnection(options: LoadKubeConnectionOptions = {}): Promise<KubeConnection> {
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  if (options.kubeconfigPath !== undefined && options.kubeconfigPath !== '') {
    const path = options.kubeconfigPath.split(':')[0] ?? options.kubeconfigPath;
    return connectByKubeconfig(path, options.context, monotonicMs);
  }
  return connectInCluster(options.env ?? process.env, monotonicMs);
}
