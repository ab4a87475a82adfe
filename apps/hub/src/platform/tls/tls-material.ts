/**
 * The certificate the hub serves with, wherever it comes from: files given (as further replicas are), or files of its
 * own CA in the data folder. `refresh` is called now and then: it renews or re-reads, and says what changed. A CA that
 * the hub will use later is part of it, since agents must be told before it is used.
 */
import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TlsFiles } from '../config/hub-config.ts';
import {
  CA_VALID_MS,
  createCertificateAuthority,
  issueServerCertificate,
  mustRenew,
  type PemPair,
} from './certificate-authority.ts';
import { decideOwnCa, type OwnCaWish } from './own-ca.rules.ts';

export interface TlsChange {
  /** Certificate or key. */
  readonly served: boolean;
  readonly nextCa: boolean;
}

export interface TlsMaterial {
  readonly certificate: string;
  readonly privateKey: string;
  /** PEM of the CA that clients and agents verify with. */
  readonly caCertificate: string;
  /** PEM of the CA that the hub will use later; agents that know it find the hub again after the switch. */
  readonly nextCaCertificate: string | undefined;
  /** What whoever enrols now is given: the CA, and the coming one. */
  readonly trustBundle: string;
  readonly files: TlsFiles;
  refresh(nowMs: number): Promise<TlsChange>;
}

/** Thrown with what to do when a file does not hold what it must. */
class TlsFileError extends Error {}

class FileTlsMaterial implements TlsMaterial {
  certificate = '';
  privateKey = '';
  caCertificate = '';
  nextCaCertificate: string | undefined;
  readonly files: TlsFiles;
  readonly #renew: (nowMs: number) => Promise<void>;
  readonly #readNextCa: (nowMs: number) => Promise<string | undefined>;

  constructor(
    files: TlsFiles,
    renew: (nowMs: number) => Promise<void>,
    readNextCa: (nowMs: number) => Promise<string | undefined>,
  ) {
    this.files = files;
    this.#renew = renew;
    this.#readNextCa = readNextCa;
  }

  get trustBundle(): string {
    return this.nextCaCertificate === undefined
      ? this.caCertificate
      : `${this.caCertificate.trimEnd()}\n${this.nextCaCertificate.trimEnd()}\n`;
  }

  async refresh(nowMs: number): Promise<TlsChange> {
    await this.#renew(nowMs);
    const [certificate, privateKey, caCertificate, nextCaCertificate] = await Promise.all([
      readFile(this.files.certFile, 'utf8'),
      readFile(this.files.keyFile, 'utf8'),
      readFile(this.files.caFile, 'utf8'),
      this.#readNextCa(nowMs),
    ]);
    const served = certificate !== this.certificate || privateKey !== this.privateKey;
    const nextCa = nextCaCertificate !== this.nextCaCertificate;
    Object.assign(this, { certificate, privateKey, caCertificate, nextCaCertificate });
    return { served, nextCa };
  }
}

/** `nextCaFile`: PEM of a CA to announce. */
export async function loadGivenTls(
  files: TlsFiles,
  nextCaFile: string | undefined,
  nowMs: number,
): Promise<TlsMaterial> {
  const readNextCa = async (at: number): Promise<string | undefined> =>
    nextCaFile === undefined ? undefined : checkCa(await readFile(nextCaFile, 'utf8'), nextCaFile, at);
  const material = new FileTlsMaterial(files, () => Promise.resolve(), readNextCa);
  await material.refresh(nowMs);
  return material;
}

/** Makes the CA at the first start, and the server certificate whenever it is due. `hosts` are its names. */
export async function loadOwnTls(
  folder: string,
  hosts: readonly string[],
  nowMs: number,
  wish: OwnCaWish = 'keep',
): Promise<TlsMaterial> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const path = (name: string): string => join(folder, name);
  const files = { certFile: path('server.crt'), keyFile: path('server.key'), caFile: path('ca.crt') };
  const renew = async (at: number): Promise<void> => {
    const authority = await tendOwnCa(path, wish, at);
    const server = await readPair(files.certFile, files.keyFile);
    if (server && !(await mustRenew(server.certificate, authority.certificate, hosts, at))) return;
    await writePair(await issueServerCertificate(authority, hosts, at), files.certFile, files.keyFile);
  };
  const readNextCa = async (): Promise<string | undefined> =>
    (await readPair(path('next-ca.crt'), path('next-ca.key')))?.certificate;
  const material = new FileTlsMaterial(files, renew, readNextCa);
  await material.refresh(nowMs);
  return material;
}

/** The CA to serve with. */
async function tendOwnCa(path: (name: string) => string, wish: OwnCaWish, nowMs: number): Promise<PemPair> {
  const files = {
    current: [path('ca.crt'), path('ca.key')],
    next: [path('next-ca.crt'), path('next-ca.key')],
  } as const;
  const [current, next] = [await readPair(...files.current), await readPair(...files.next)];
  const verdict = decideOwnCa({ wish, nowMs, ...readTimes(current, next) });
  if (current === undefined || verdict === 'MAKE_CURRENT') {
    const made = await createCertificateAuthority(nowMs);
    await writePair(made, ...files.current);
    return made;
  }
  if (verdict === 'MAKE_NEXT') await writePair(await createCertificateAuthority(nowMs), ...files.next);
  if (verdict !== 'USE_NEXT' || next === undefined) return current;
  // Whole in its place before its own files go: a crash in between repeats it.
  if (current.certificate !== next.certificate) await writeWhole(path('previous-ca.crt'), current.certificate, 0o644);
  await writePair(next, ...files.current);
  for (const file of files.next) await rm(file, { force: true });
  return next;
}

const readTimes = (
  current: PemPair | undefined,
  next: PemPair | undefined,
): { readonly endMs?: number; readonly nextMadeMs?: number } => ({
  ...(current && { endMs: new X509Certificate(current.certificate).validToDate.getTime() }),
  // By its end: how far its beginning is backdated depends on the release that made it.
  ...(next && { nextMadeMs: new X509Certificate(next.certificate).validToDate.getTime() - CA_VALID_MS }),
});

/** Throws when no agent could verify anything with it. */
function checkCa(pem: string, file: string, nowMs: number): string {
  const certificate = readCertificate(pem);
  if (!certificate?.ca) {
    throw new TlsFileError(`${file} holds no CA certificate in PEM: correct ATOLL_TLS_NEXT_CA_FILE`);
  }
  if (certificate.validToDate.getTime() <= nowMs) {
    throw new TlsFileError(`the CA in ${file} has ended on ${certificate.validTo}: name another one`);
  }
  return pem;
}

function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
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
