/**
 * The certificate the hub serves with, wherever it comes from: files given (as further replicas are), or files of its
 * own CA in the data folder. `refresh` is called now and then: it renews or re-reads, and says whether to swap.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TlsFiles } from '../config/hub-config.ts';
import { createCertificateAuthority, issueServerCertificate, mustRenew } from './certificate-authority.ts';

export interface TlsMaterial {
  readonly certificate: string;
  readonly privateKey: string;
  /** PEM of the CA that clients and agents verify with. */
  readonly caCertificate: string;
  readonly files: TlsFiles;
  /** True when certificate or key changed. */
  refresh(nowMs: number): Promise<boolean>;
}

class FileTlsMaterial implements TlsMaterial {
  certificate = '';
  privateKey = '';
  caCertificate = '';
  readonly files: TlsFiles;
  readonly #renew: (nowMs: number) => Promise<void>;

  constructor(files: TlsFiles, renew: (nowMs: number) => Promise<void>) {
    this.files = files;
    this.#renew = renew;
  }

  async refresh(nowMs: number): Promise<boolean> {
    await this.#renew(nowMs);
    const [certificate, privateKey, caCertificate] = await Promise.all([
      readFile(this.files.certFile, 'utf8'),
      readFile(this.files.keyFile, 'utf8'),
      readFile(this.files.caFile, 'utf8'),
    ]);
    const changed = certificate !== this.certificate || privateKey !== this.privateKey;
    Object.assign(this, { certificate, privateKey, caCertificate });
    return changed;
  }
}

export async function loadGivenTls(files: TlsFiles, nowMs: number): Promise<TlsMaterial> {
  const material = new FileTlsMaterial(files, () => Promise.resolve());
  await material.refresh(nowMs);
  return material;
}

/** Makes the CA at the first start, and the server certificate whenever it is due. `hosts` are its names. */
export async function loadOwnTls(folder: string, hosts: readonly string[], nowMs: number): Promise<TlsMaterial> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const path = (name: string): string => join(folder, name);
  const files = { certFile: path('server.crt'), keyFile: path('server.key'), caFile: path('ca.crt') };
  const renew = async (at: number): Promise<void> => {
    const ca = await readPair(files.caFile, path('ca.key'));
    const authority = ca ?? (await createCertificateAuthority(at));
    if (!ca) await writePair(authority, files.caFile, path('ca.key'));
    const server = await readPair(files.certFile, files.keyFile);
    if (server && !(await mustRenew(server.certificate, authority.certificate, hosts, at))) return;
    await writePair(await issueServerCertificate(authority, hosts, at), files.certFile, files.keyFile);
  };
  const material = new FileTlsMaterial(files, renew);
  await material.refresh(nowMs);
  return material;
}

async function readPair(
  certificateFile: string,
  keyFile: string,
): Promise<{ certificate: string; privateKey: string } | undefined> {
  try {
    return { certificate: await readFile(certificateFile, 'utf8'), privateKey: await readFile(keyFile, 'utf8') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The key first: a certificate without its key would look whole to the next start. */
async function writePair(
  pair: { certificate: string; privateKey: string },
  certificateFile: string,
  keyFile: string,
): Promise<void> {
  await writeWhole(keyFile, pair.privateKey, 0o600);
  await writeWhole(certificateFile, pair.certificate, 0o644);
}

async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  await writeFile(`${file}.partial`, text, { mode });
  await rename(`${file}.partial`, file);
}
