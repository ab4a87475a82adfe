/**
 * Picks one context out of a kubeconfig. Pure: text in, plain data out; file references stay references, relative ones
 * made absolute against the file's folder as kubectl does. What is not supported is an error, never ignored silently.
 */
import { ownValue } from '#domain';
import { isAbsolute, join } from 'node:path';
import type { Cluster, Context, User } from '@kubernetes/client-node';

/** A PEM or token, inline or by file. */
export type Material = { readonly inline: string } | { readonly file: string };

export interface CredentialPlugin {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
}

export interface KubeconfigContext {
  readonly contextName: string;
  readonly server: string;
  readonly namespace: string;
  readonly ca?: Material;
  readonly rejectUnauthorized: boolean;
  readonly servername?: string;
  readonly cert?: Material;
  readonly key?: Material;
  readonly token?: Material;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly plugin?: CredentialPlugin;
}

type Fields = Readonly<Record<string, unknown>>;

const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const asText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function findNamed(document: Fields, list: string, entry: string, name: string | undefined): Fields {
  const listed = ownValue(document, list);
  const entries = Array.isArray(listed) ? listed.map(asFields) : [];
  const found = entries.find((candidate) => candidate['name'] === name);
  if (found === undefined) throw new Error(`kubeconfig has no ${entry} named "${name ?? ''}"`);
  return asFields(ownValue(found, entry));
}

/** `document` is the parsed YAML; `folder` is where the file lies. */
export function parseKubeconfig(document: unknown, folder: string, contextName?: string): KubeconfigContext {
  const root = asFields(document);
  const wanted = contextName ?? asText(root['current-context']);
  const context = findNamed(root, 'contexts', 'context', wanted);
  const cluster = findNamed(root, 'clusters', 'cluster', asText(context['cluster' satisfies keyof Context]));
  const user =
    context['user'] === undefined
      ? {}
      : findNamed(root, 'users', 'user', asText(context['user' satisfies keyof Context]));
  return {
    contextName: wanted ?? '',
    namespace: asText(context['namespace']) ?? 'default',
    ...parseCluster(cluster, folder),
    ...parseUser(user, folder),
  };
}

function parseCluster(cluster: Fields, folder: string) {
  const server = asText(cluster['server' satisfies keyof Cluster]);
  if (server === undefined) throw new Error('kubeconfig: the cluster has no server');
  if (cluster['proxy-url'] !== undefined) throw new Error('kubeconfig: proxy-url is not supported');
  const ca = material(cluster, 'certificate-authority', folder);
  const servername = asText(cluster['tls-server-name']);
  return {
    server: server.replace(/\/+$/, ''),
    rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
    ...(ca && { ca }),
    ...(servername !== undefined && { servername }),
  };
}

function parseUser(user: Fields, folder: string) {
  if (user['auth-provider' satisfies 'auth-provider'] !== undefined) {
    throw new Error('kubeconfig: auth-provider was removed from Kubernetes in 1.26; use exec');
  }
  const cert = material(user, 'client-certificate', folder);
  const key = material(user, 'client-key', folder);
  const tokenFile = asText(user['tokenFile']);
  const inlineToken = asText(user['token' satisfies keyof User]);
  const token =
    tokenFile !== undefined
      ? { file: absolute(tokenFile, folder) }
      : inlineToken !== undefined
        ? { inline: inlineToken }
        : undefined;
  const username = asText(user['username']);
  const plugin = parsePlugin(asFields(user['exec']), folder);
  return {
    ...(cert && { cert }),
    ...(key && { key }),
    ...(token && { token }),
    ...(username !== undefined && { basic: { username, password: asText(user['password']) ?? '' } }),
    ...(plugin && { plugin }),
  };
}

function parsePlugin(exec: Fields, folder: string): CredentialPlugin | undefined {
  const command = asText(exec['command']);
  if (command === undefined) return undefined;
  const env = Array.isArray(exec['env']) ? (exec['env'] as unknown[]).map(asFields) : [];
  return {
    command: command.includes('/') ? absolute(command, folder) : command,
    args: Array.isArray(exec['args']) ? (exec['args'] as unknown[]).map(String) : [],
    env: Object.fromEntries(env.map((entry) => [String(entry['name']), String(entry['value'] ?? '')])),
    apiVersion: asText(exec['apiVersion']) ?? 'client.authentication.k8s.io/v1',
  };
}

const absolute = (path: string, folder: string): string => (isAbsolute(path) ? path : join(folder, path));

/** `NAME-data` (base64) wins over the file `NAME`, as in kubectl. */
function material(fields: Fields, name: string, folder: string): Material | undefined {
  const data = asText(ownValue(fields, `${name}-data`));
  if (data !== undefined) return { inline: Buffer.from(data, 'base64').toString('utf8') };
  const file = asText(ownValue(fields, name));
  return file === undefined ? undefined : { file: absolute(file, folder) };
}
