/** How to reach one API server, and as whom. */

/** What a request needs now. Asked for before each request, because tokens and certificates rotate. */
export interface KubeCredentials {
  /** PEM bundle; undefined: the system's roots. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized: boolean;
  readonly servername?: string;
  /** Value of the Authorization header; undefined with a client certificate. */
  readonly authorization?: string;
}

export interface KubeConnection {
  /** `https://host:port`, a path prefix included, without a trailing slash. */
  readonly server: string;
  /** Own namespace: of the pod, or of the kubeconfig's context, or `default`. */
  readonly namespace: string;
  /** Where it came from, for messages: `in-cluster`, or the kubeconfig's path and context. */
  readonly source: string;
  credentials(): Promise<KubeCredentials>;
  /** The server refused the credentials: read them anew before the next request. */
  invalidate(): void;
}
