/**
 * How a CA of the hub is named: SHA-256 of the certificate, hex in lower case. Agents say in Hello, as capabilities, which
 * CAs would let them find their hub, and the hub counts by the same words who lacks the coming one.
 */
import type { X509Certificate } from 'node:crypto';

const PREFIX = 'hubCa:';

export const nameHubCa = ({ fingerprint256 }: X509Certificate): string =>
  fingerprint256.replaceAll(':', '').toLowerCase();

export const toTrustCapability = (caName: string): string => `${PREFIX}${caName}`;

/** The names of the CAs that these capabilities speak of. */
export const readTrustedCas = (capabilities: readonly string[]): string[] =>
  capabilities.filter((one) => one.startsWith(PREFIX)).map((one) => one.slice(PREFIX.length));
