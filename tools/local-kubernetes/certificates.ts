import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;
const LIFETIME_MS = 365 * 24 * HOUR_MS;

export interface IssuedCertificate {
  certificate: string;
  key: string;
}

export interface CertificateRequest {
  commonName: string;
  organization?: string;
  /** IP addresses and DNS names a server is reached by. */
  alternativeNames?: readonly string[];
}

/** A cluster's own certificate authority; its key stays in memory and in `ca.key` of the folder it is saved to. */
export class CertificateAuthority {
  readonly #certificate: x509.X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(certificate: x509.X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.#certificate = certificate;
    this.#keys = keys;
  }

  static async create(commonName: string): Promise<CertificateAuthority> {
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...validity(),
      serialNumber: serialNumber(),
      name: [{ CN: [commonName] }],
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new CertificateAuthority(certificate, keys);
  }

  get certificatePem(): string {
    return `${this.#certificate.toString('pem')}\n`;
  }

  async keyPem(): Promise<string> {
    return exportKey(this.#keys.privateKey);
  }

  /** Issues a certificate that serves as a client's and as a server's. */
  async issue(request: CertificateRequest): Promise<IssuedCertificate> {
    const keys = await generateKeys();
    const organization = request.organization === undefined ? [] : [{ O: [request.organization] }];
    const names = (request.alternativeNames ?? []).map(
      (value) => ({ type: isIP(value) ? 'ip' : 'dns', value }) as const,
    );
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(),
      serialNumber: serialNumber(),
      subject: [...organization, { CN: [request.commonName] }],
      issuer: this.#certificate.subjectName.toJSON(),
      signingAlgorithm: ALGORITHM,
      signingKey: this.#keys.privateKey,
      publicKey: keys.publicKey,
      extensions: [
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ],
    });
    return { certificate: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) };
  }
}

/** Writes the key pair that signs service account tokens: `sa.key` and `sa.pub`. */
export async function writeServiceAccountKeys(folder: string): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await writeFile(join(folder, 'sa.key'), privateKey, { mode: 0o600 });
  await writeFile(join(folder, 'sa.pub'), publicKey);
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
}

function validity(): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - HOUR_MS), notAfter: new Date(Date.now() + LIFETIME_MS) };
}

function serialNumber(): string {
  return `01${Buffer.from(webcrypto.getRandomValues(new Uint8Array(15))).toString('hex')}`;
}
