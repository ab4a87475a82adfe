import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { connectInCluster } from './connect-in-cluster.ts';
import { loadKubeConnection } from './load-kube-connection.ts';
import { parseKubeconfig } from './parse-kubeconfig.ts';
import { openRotatingFile } from './read-rotating-file.ts';
import { openCredentialPlugin, parseExecCredential } from './run-credential-plugin.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const config = (user: object, cluster: object = {}) => ({
  'current-context': 'here',
  contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'mine' } }],
  clusters: [{ name: 'c', cluster: { server: 'https://api:6443/', ...cluster } }],
  users: [{ name: 'u', user }],
});
const folders: string[] = [];
const folder = async (): Promise<string> => {
  const made = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  folders.push(made);
  return made;
};
afterAll(() => Promise.all(folders.map((made) => rm(made, { recursive: true }))));

describe('a kubeconfig', () => {
  it('gives server, namespace and inline credentials of its current context', () => {
    const user = { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') };
    expect(parseKubeconfig(config(user, { 'certificate-authority-data': base64('CA') }), '/f')).toEqual({
      contextName: 'here',
      server: 'https://api:6443',
      namespace: 'mine',
      rejectUnauthorized: true,
      ca: { inline: 'CA' },
      cert: { inline: 'CERT' },
      key: { inline: 'KEY' },
    });
  });

  it('keeps references to files, relative to its own folder', () => {
    const parsed = parseKubeconfig(
      config({ tokenFile: 't', 'client-key': '/abs/key' }, { 'certificate-authority': 'ca' }),
      '/f',
    );
    expect(parsed).toMatchObject({ token: { file: '/f/t' }, key: { file: '/abs/key' }, ca: { file: '/f/ca' } });
  });

  it.each([
    [{ ...config({}), 'current-context': 'other' }, 'no context named "other"'],
    [{ ...config({}), users: [] }, 'no user named "u"'],
    [config({}, { server: '' }), 'no server'],
    [config({}, { 'proxy-url': 'http://p' }), 'proxy-url'],
    [config({ 'auth-provider': { name: 'gcp' } }), 'auth-provider'],
    ['not a mapping', 'no context'],
  ])('that cannot be used is refused with the reason (%#)', (document, message) => {
    expect(() => parseKubeconfig(document, '/f')).toThrow(message);
  });

  it('is read from disk, by the first file of a list, another context if asked', async () => {
    const path = join(await folder(), 'config');
    const two = config({ token: 'secret' });
    await writeFile(path, stringify({ ...two, contexts: [...two.contexts, { name: 'b', context: { cluster: 'c' } }] }));
    const first = await loadKubeConnection({ kubeconfigPath: `${path}:/nowhere` });
    expect(await first.credentials()).toEqual({ rejectUnauthorized: true, authorization: 'Bearer secret' });
    const second = await loadKubeConnection({ kubeconfigPath: path, context: 'b' });
    expect(second.namespace).toBe('default');
    expect(await second.credentials()).toEqual({ rejectUnauthorized: true });
  });
});

describe('a service account', () => {
  it('is read from its mounted files, and its token again when it is old or was refused', async () => {
    const at = await folder();
    await Promise.all([
      writeFile(join(at, 'token'), 'one\n'),
      writeFile(join(at, 'ca.crt'), 'CA'),
      writeFile(join(at, 'namespace'), 'ns'),
    ]);
    let nowMs = 0;
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const connection = await connectInCluster(env, () => nowMs, at);
    expect(connection).toMatchObject({ server: 'https://[fd00::1]:443', namespace: 'ns' });
    const token = async () => (await connection.credentials()).authorization;
    expect(await token()).toBe('Bearer one');
    await writeFile(join(at, 'token'), 'two');
    expect(await token()).toBe('Bearer one');
    nowMs = 60_000;
    expect(await token()).toBe('Bearer two');
    await writeFile(join(at, 'token'), 'three');
    connection.invalidate();
    expect(await token()).toBe('Bearer three');
  });

  it('outside of a pod is an error that says so', async () => {
    await expect(loadKubeConnection({ env: {} })).rejects.toThrow('not running in a pod');
  });

  it('whose file vanishes for a moment goes on with the last text', async () => {
    const path = join(await folder(), 'token');
    await expect(openRotatingFile(path, () => 0).read()).rejects.toThrow('ENOENT');
    await writeFile(path, 'x');
    const file = openRotatingFile(path, () => 0);
    await file.read();
    await writeFile(path, 'y');
    file.invalidate();
    expect(await file.read()).toBe('y');
  });
});

describe('a credential plugin', () => {
  const answer = (status: object) => JSON.stringify({ kind: 'ExecCredential', status });
  const plugin = (script: string) => ({
    command: process.execPath,
    args: ['-e', script],
    env: { CANARY: 'c' },
    apiVersion: 'v1',
  });

  it('gives a token or a certificate, or says that it gave none', () => {
    expect(parseExecCredential(answer({ token: 't' })).credentials).toEqual({ authorization: 'Bearer t' });
    const certificate = { clientCertificateData: 'C', clientKeyData: 'K' };
    expect(parseExecCredential(answer(certificate)).credentials).toEqual({ cert: 'C', key: 'K' });
    expect(() => parseExecCredential(answer({}))).toThrow('without a token');
  });

  it('runs once for many requests, and again when its answer is about to expire', async () => {
    let nowMs = Date.parse('2026-01-01T00:00:00Z');
    const status = '{ token: process.env.CANARY + process.pid, expirationTimestamp: "2026-01-01T01:00:00Z" }';
    const opened = openCredentialPlugin(plugin(`console.log(JSON.stringify({ status: ${status} }))`), () => nowMs);
    const [first, second] = await Promise.all([opened.read(), opened.read()]);
    expect(first.authorization).toMatch(/^Bearer c\d+$/);
    expect(second).toEqual(first);
    nowMs += 3_550_000;
    expect(await opened.read()).not.toEqual(first);
  });

  it('that fails is tried again with the next request', async () => {
    const opened = openCredentialPlugin(plugin('process.exit(1)'));
    await expect(opened.read()).rejects.toThrow();
    await expect(opened.read()).rejects.toThrow('Command failed');
  });
});
