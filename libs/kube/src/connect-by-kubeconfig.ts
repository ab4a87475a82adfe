/** The connection of a process outside: kubectl's own file, with files, tokens, client certificates and exec plugins. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { KubeConnection, KubeCredentials } from './kube-connection.ts';
import { type KubeconfigContext, type Material, parseKubeconfig } from './parse-kubeconfig.ts';
import { openRotatingFile, type RotatingFile } from './read-rotating-file.ts';
import { openCredentialPlugin } from './run-credential-plugin.ts';

export async function connectByKubeconfig(
  path: string,
  context: string | undefined,
  monotonicMs: () => number,
): Promise<KubeConnection> {
  const document = await parseDocument(await readFile(path, 'utf8'));
  const parsed = parseKubeconfig(document, dirname(resolve(path)), context);
  const reader = openMaterials(parsed, monotonicMs);
  const plugin = parsed.plugin && openCredentialPlugin(parsed.plugin);
  return {
    server: parsed.server,
    namespace: parsed.namespace,
    source: `kubeconfig ${path}, context ${parsed.contextName}`,
    async credentials() {
      const credentials = await reader.read();
      return plugin === undefined ? credentials : { ...credentials, ...(await plugin.read()) };
    },
    invalidate() {
      reader.invalidate();
      plugin?.invalidate();
    },
  };
}

/** A kubeconfig may be JSON, as every YAML may; then the YAML parser is not loaded, as it never is in a pod. */
async function parseDocument(text: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const { parse } = await import('yaml');
    return parse(text) as unknown;
  }
}

function openMaterials(parsed: KubeconfigContext, monotonicMs: () => number) {
  const files = new Map<string, RotatingFile>();
  const read = async (material: Material | undefined): Promise<string | undefined> => {
    if (material === undefined) return undefined;
    if ('inline' in material) return material.inline;
    const file = files.get(material.file) ?? openRotatingFile(material.file, monotonicMs);
    files.set(material.file, file);
    return file.read();
  };
  return {
    async read(): Promise<KubeCredentials> {
      const [ca, cert, key, token] = await Promise.all([parsed.ca, parsed.cert, parsed.key, parsed.token].map(read));
      const authorization = token === undefined ? basicAuthorization(parsed) : `Bearer ${token}`;
      return {
        rejectUnauthorized: parsed.rejectUnauthorized,
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
        ...(parsed.servername !== undefined && { servername: parsed.servername }),
        ...(authorization !== undefined && { authorization }),
      };
    },
    invalidate() {
      for (const file of files.values()) file.invalidate();
    },
  };
}

function basicAuthorization({ basic }: KubeconfigContext): string | undefined {
  if (basic === undefined) return undefined;
  return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
}
