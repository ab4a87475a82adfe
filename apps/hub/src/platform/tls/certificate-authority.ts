/**
 * The hub's own certificates, for hubs that were given none. The CA lives 20 years, because agents hold it and one that
 * was away for long must still find its hub; the server certificate is short-lived and renewed by itself.
 */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

x509.cryptoProvider.set(webcrypto as never);

const KEY = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;
export const CA_VALID_MS = 20 * 365 * DAY_MS;
export const SERVER_VALID_MS = 90 * DAY_MS;
/** Renewed when less than this is left. */
export const RENEW_BEFORE_MS = 30 * DAY_MS;
/**
 * Clocks of member clusters may be behind: by as much as a renewal has in hand. An agent whose clock stands within the last
 * certificate's time would else be locked out by the next one until its clock has come so far.
 */
const BACKDATE_MS = RENEW_BEFORE_MS;

export interface PemPair {
  readonly certificate: string;
  readonly privateKey: string;
}

export async function createCertificateAuthority(nowMs: number): Promise<PemPair> {
  const keys = await webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: randomSerialNumber(),
    // A name of its own: two CAs of one name are told apart by their keys alone, which not every verifier does.
    name: `CN=Atoll hub CA ${new Date(nowMs).toISOString().slice(0, 10)} ${randomSerialNumber().slice(-6)}`,
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(nowMs + CA_VALID_MS),
    signingAlgorithm: KEY,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: await exportPrivateKey(keys.privateKey) };
}

/** `hosts`: DNS names and IP addresses that clients may use. */
export async function issueServerCertificate(ca: PemPair, hosts: readonly string[], nowMs: number): Promise<PemPair> {
  const issuer = new x509.X509Certificate(ca.certificate);
  const signingKey = await importPrivateKey(ca.privateKey);
  const keys = await webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: randomSerialNumber(),
    subject: 'CN=Atoll hub',
    issuer: issuer.subject,
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(nowMs + SERVER_VALID_MS),
    signingAlgorithm: KEY,
    signingKey,
    publicKey: keys.publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) ? ('ip' as const) : ('dns' as const), value: host })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer, false),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: await exportPrivateKey(keys.privateKey) };
}

/** True when the certificate must be made anew: nearly over, from another CA, or without one of the hosts. */
export async function mustRenew(server: string, ca: string, hosts: readonly string[], nowMs: number): Promise<boolean> {
  const certificate = new x509.X509Certificate(server);
  if (certificate.notAfter.getTime() - nowMs < RENEW_BEFORE_MS) return true;
  if (!(await certificate.verify({ publicKey: new x509.X509Certificate(ca), date: new Date(nowMs) }))) return true;
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
  const present = new Set(names.map((name) => name.value));
  return hosts.some((host) => !present.has(host));
}

const randomSerialNumber = (): string =>
  `00${Buffer.from(webcrypto.getRandomValues(new Uint8Array(15))).toString('hex')}`;

async function exportPrivateKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = await webcrypto.subtle.exportKey('pkcs8', key);
  return x509.PemConverter.encode(der, 'PRIVATE KEY');
}

async function importPrivateKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = x509.PemConverter.decodeFirst(pem);
  return webcrypto.subtle.importKey('pkcs8', der, KEY, false, ['sign']);
}
