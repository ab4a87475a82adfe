/**
 * Credentials from a program (`users[].user.exec`), as managed Kubernetes services use them. The answer is kept until
 * shortly before it expires; one run at a time. Source: kubernetes.io "client-go credential plugins".
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { KubeCredentials } from './kube-connection.ts';
import type { CredentialPlugin } from './parse-kubeconfig.ts';

const EXPIRY_MARGIN_MS = 60_000;
const RUN_LIMIT_MS = 30_000;

type PluginCredentials = Pick<KubeCredentials, 'authorization' | 'cert' | 'key'>;

interface Answer {
  readonly credentials: PluginCredentials;
  /** Wall time; undefined: until refused. */
  readonly expiresAtMs: number | undefined;
}

/** The credentials in an ExecCredential's JSON text. Throws when there are none. */
export function parseExecCredential(text: string): Answer {
  const { status } = JSON.parse(text) as { status?: Readonly<Record<string, string | undefined>> };
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status ?? {};
  if (!token && !(cert && key)) throw new Error('the credential plugin answered without a token or certificate');
  return {
    credentials: { ...(token && { authorization: `Bearer ${token}` }), ...(cert && key && { cert, key }) },
    expiresAtMs: expirationTimestamp === undefined ? undefined : Date.parse(expirationTimestamp),
  };
}

export interface OpenCredentialPlugin {
  read(): Promise<PluginCredentials>;
  invalidate(): void;
}

export function openCredentialPlugin(plugin: CredentialPlugin, nowMs: () => number = Date.now): OpenCredentialPlugin {
  let current: Promise<Answer> | undefined;
  const run = async (): Promise<Answer> => {
    const info = { apiVersion: plugin.apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
    const { stdout } = await promisify(execFile)(plugin.command, [...plugin.args], {
      env: { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      timeout: RUN_LIMIT_MS,
    });
    return parseExecCredential(stdout);
  };
  const isUsable = (answer: Answer): boolean =>
    answer.expiresAtMs === undefined || nowMs() < answer.expiresAtMs - EXPIRY_MARGIN_MS;
  return {
    async read() {
      const attempt = current;
      const last = await attempt?.catch(() => undefined);
      if (last !== undefined && isUsable(last)) return last.credentials;
      if (current === attempt) current = run();
      return (await (current ??= run())).credentials;
    },
    invalidate() {
      current = undefined;
    },
  };
}
