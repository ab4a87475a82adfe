import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { CA_VALID_MS } from './certificate-authority.ts';
import { ANNOUNCED_FOR_MS, USE_NEXT_BEFORE_MS } from './own-ca.rules.ts';
import { loadGivenTls, loadOwnTls, type TlsMaterial } from './tls-material.ts';

const NOW = Date.now();
const HOSTS = ['127.0.0.1'];
let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'atoll-tls-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

const servesWith = (tls: TlsMaterial): boolean =>
  new X509Certificate(tls.certificate).verify(new X509Certificate(tls.caCertificate).publicKey);

describe('a hub with a CA of its own', () => {
  it('announces the next one when asked, and serves with it when asked', async () => {
    const first = await loadOwnTls(folder, HOSTS, NOW);
    expect(first.nextCaCertificate).toBeUndefined();
    expect(first.trustBundle).toBe(first.caCertificate);
    const told = await loadOwnTls(folder, HOSTS, NOW, 'announce-next');
    expect([told.certificate, told.caCertificate]).toEqual([first.certificate, first.caCertificate]);
    expect(told.trustBundle).toBe(`${first.caCertificate.trim()}\n${told.nextCaCertificate?.trim()}\n`);
    const again = await loadOwnTls(folder, HOSTS, NOW, 'announce-next');
    expect(again.nextCaCertificate).toBe(told.nextCaCertificate);
    const switched = await loadOwnTls(folder, HOSTS, NOW, 'use-next');
    expect(switched.caCertificate).toBe(told.nextCaCertificate);
    expect(switched.nextCaCertificate).toBeUndefined();
    expect(servesWith(switched)).toBe(true);
    expect(await readFile(join(folder, 'previous-ca.crt'), 'utf8')).toBe(first.caCertificate);
    expect((await loadOwnTls(folder, HOSTS, NOW, 'use-next')).caCertificate).toBe(switched.caCertificate);
  });

  it('does both by itself before the end of the CA, and says what changed', async () => {
    const tls = await loadOwnTls(folder, HOSTS, NOW);
    const first = tls.caCertificate;
    const nearEnd = NOW + CA_VALID_MS - USE_NEXT_BEFORE_MS;
    expect(await tls.refresh(nearEnd)).toEqual({ served: true, nextCa: true });
    const { nextCaCertificate } = tls;
    await tls.refresh(nearEnd + ANNOUNCED_FOR_MS / 2);
    expect([tls.caCertificate, tls.nextCaCertificate]).toEqual([first, nextCaCertificate]);
    expect(await tls.refresh(nearEnd + ANNOUNCED_FOR_MS)).toEqual({ served: true, nextCa: true });
    expect([tls.caCertificate, tls.nextCaCertificate]).toEqual([nextCaCertificate, undefined]);
    expect(servesWith(tls)).toBe(true);
  });

  it('keeps its keys from other users', async () => {
    await loadOwnTls(folder, HOSTS, NOW, 'announce-next');
    await loadOwnTls(folder, HOSTS, NOW, 'announce-next');
    for (const name of ['ca.key', 'next-ca.key', 'server.key']) {
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    }
  });
});

describe('a hub that was given its certificate', () => {
  it('announces the CA of the named file, and refuses one that is none', async () => {
    const { files } = await loadOwnTls(join(folder, 'a'), HOSTS, NOW);
    const next = await loadOwnTls(join(folder, 'b'), HOSTS, NOW);
    const tls = await loadGivenTls(files, next.files.caFile, NOW);
    expect(tls.nextCaCertificate).toBe(next.caCertificate);
    await expect(loadGivenTls(files, next.files.certFile, NOW)).rejects.toThrow('holds no CA certificate');
    await expect(loadGivenTls(files, next.files.caFile, NOW + 2 * CA_VALID_MS)).rejects.toThrow('has ended');
    await writeFile(join(folder, 'text'), 'no certificate');
    await expect(loadGivenTls(files, join(folder, 'text'), NOW)).rejects.toThrow('ATOLL_TLS_NEXT_CA_FILE');
  });
});
