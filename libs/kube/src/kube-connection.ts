/** How to reach one API server. Credentials are read again on each use, because service-account tokens rotate. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized: boolean;
  readonly servername?: string;
}

export interface KubeConnection {
  /** `https://host:port`, a path prefix included, without a trailing slash. */
  readonly server: string;
  /** Own namespace: of the pod, or of the kubeconfig's context, or `default`. */
  readonly namespace: string;
  /** Where it came from, for messages: `in-cluster` or the kubeconfig's path and context. */
  readonly source: string;
  /** CA and client certificate as they are now; re-read when their files change. */
  readTls(): TlsMaterial;
  /** Value of the Authorization header as it is now, or undefined with client certificates. */
  readAuthorization(): string | undefined;
}

export interface LoadKubeConnectionOptions {
  /** Default: `KUBECONFIG`'s first file is the caller's business; undefined means in-cluster. */
  readonly kubeconfigPath?: string;
  readonly context?: string;
}
