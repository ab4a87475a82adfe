/**
 * What is signed in the link, and by which key. Each input names its purpose and holds its parts as an RFC 8785 array, so
 * no signature of one kind is ever valid as another and no two sets of parts give the same bytes. Without the audience
 * in the Hello a hub that is not ours could pass our answer on to the real one.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { canonicalJson, sha256Hex } from './canonical-json.ts';

const input = (purpose: string, ...parts: readonly string[]): Uint8Array =>
  Buffer.from(canonicalJson([`atoll.v1/${purpose}`, ...parts]), 'utf8');

/** Signed by the agent's key in each Hello. `audience` is the hub's configured public address (host:port). */
export const helloSigningInput = (challenge: string, audience: string, agentId: string): Uint8Array =>
  input('hello', challenge, audience, agentId);

/** What an Enrol is signed over, with the key that it brings: proof that the sender holds it. */
export interface EnrolProof {
  readonly challenge: string;
  readonly audience: string;
  /** `tokenHash(token)`. */
  readonly tokenHash: string;
  readonly publicKey: string;
  readonly fingerprint: string;
}
export const enrolSigningInput = (proof: EnrolProof): Uint8Array =>
  input('enrol', proof.challenge, proof.audience, proof.tokenHash, proof.publicKey, proof.fingerprint);

/** Signed with the old key when an agent brings a new one. */
export const keyRotationSigningInput = (newPublicKey: string, agentId: string): Uint8Array =>
  input('key-rotation', newPublicKey, agentId);

/** How an enrolment token is stored and looked up: SHA-256 hex. */
export const tokenHash = (token: string): string => sha256Hex(token);

/** A fresh challenge: 32 random bytes, base64url. */
export const createChallenge = (): string => randomBytes(32).toString('base64url');

export interface KeyPair {
  /** PKCS#8 PEM; stays with its owner. */
  readonly privateKeyPem: string;
  /** Raw 32 bytes of the Ed25519 public key, base64url. */
  readonly publicKey: string;
}

export function generateKeyPair(): KeyPair {
  const { privateKey } = generateKeyPairSync('ed25519');
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { privateKeyPem, publicKey: publicKeyOf(privateKeyPem) };
}

/** The raw public key (base64url) of a PKCS#8 PEM. Throws when the text is no Ed25519 private key. */
export function publicKeyOf(privateKeyPem: string): string {
  const { x, crv } = createPublicKey(createPrivateKey(privateKeyPem)).export({ format: 'jwk' });
  if (crv !== 'Ed25519' || typeof x !== 'string') throw new TypeError('not an Ed25519 key');
  return x;
}

/** Ed25519 signature, base64url. */
export const signInput = (privateKeyPem: string, bytes: Uint8Array): string =>
  sign(null, bytes, createPrivateKey(privateKeyPem)).toString('base64url');

/** True when the signature over the bytes was made with the key. Malformed keys and signatures are false, never thrown. */
export function verifyInput(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
    return verify(null, bytes, key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}
