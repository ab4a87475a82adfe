/**
 * The CAs by which this agent knows its hub: the stored ones, and the one its settings give unless that one was replaced
 * since. What is kept and dropped is decided in settle-hub-ca.ts.
 */
import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import { nameHubCa, toTrustCapability } from '#protocol';
import { FIELD, type IdentitySecret } from './identity-secret.ts';
import { settleHubCa } from './settle-hub-ca.ts';
import type { HubCas } from './settle-hub-ca.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM text that can be read. */
function certificatesOf(pem: string | undefined): X509Certificate[] {
  return (pem?.match(CERTIFICATE) ?? []).flatMap((text) => {
    try {
      return [new X509Certificate(text)];
    } catch {
      return [];
    }
  });
}

/** The names of its certificates (see nameHubCa). */
export const fingerprintsOf = (pem: string | undefined): string[] => certificatesOf(pem).map(nameHubCa);

type TrustStore = Pick<IdentitySecret, 'fields' | 'store'>;

export class HubTrust {
  readonly #secret: TrustStore;
  readonly #given: string | undefined;

  /** `given`: PEM of the agent's own settings. */
  constructor(secret: TrustStore, given: string | undefined) {
    this.#secret = secret;
    this.#given = given;
  }

  /** PEM texts; empty when nobody has ever given one. */
  get cas(): string[] {
    const { current, next, retired } = this.#held;
    const retiredOnes = new Set(fingerprintsOf(retired));
    const given = fingerprintsOf(this.#given);
    const isRetired = given.length > 0 && given.every((one) => retiredOnes.has(one));
    return [...new Set([current, next, isRetired ? undefined : this.#given])].filter((pem) => pem !== undefined);
  }

  /**
   * What the hub is verified with; empty: the system's own CAs. Where nobody gave one, those count beside the one that was
   * announced until the hub has used that for a week: alone, it would lock the agent out before the switch.
   */
  get verifiers(): string[] {
    const { cas } = this;
    const { current, next } = this.#held;
    const isSystemsStill = next !== undefined && current === undefined && this.#given === undefined;
    return isSystemsStill ? [...getCACertificates('default'), ...cas] : cas;
  }

  /** What a Hello says of them, so that the hub knows whether its next CA would find this agent. */
  get capabilities(): string[] {
    return [...new Set(this.cas.flatMap(fingerprintsOf))].map(toTrustCapability);
  }

  /** `chain`: the certificates that the hub showed. True when the agent now trusts a CA that it did not trust before. */
  async settle(chain: readonly X509Certificate[], announced: string | undefined, nowMs: number): Promise<boolean> {
    const before = this.cas.flatMap(fingerprintsOf);
    const verifiedWith = this.#issuerOf(chain);
    const held = this.#held;
    const settled = settleHubCa(
      held,
      {
        nowMs,
        ...(verifiedWith === undefined ? {} : { verifiedWith }),
        ...(this.#given === undefined ? {} : { given: this.#given }),
        ...(announced === undefined ? {} : { announced }),
      },
      fingerprintsOf,
    );
    if (JSON.stringify(settled) === JSON.stringify(held)) return false;
    await this.#secret.store({
      [FIELD.hubCa]: settled.current,
      [FIELD.nextHubCa]: settled.next,
      [FIELD.nextHubCaUsedAt]:
        settled.nextUsedAtMs === undefined ? undefined : new Date(settled.nextUsedAtMs).toISOString(),
      [FIELD.retiredHubCa]: settled.retired,
    });
    return this.cas.flatMap(fingerprintsOf).some((one) => !before.includes(one));
  }

  get #held(): HubCas {
    const { fields } = this.#secret;
    const usedAtMs = Date.parse(fields[FIELD.nextHubCaUsedAt] ?? '');
    return {
      current: fields[FIELD.hubCa],
      next: fields[FIELD.nextHubCa],
      nextUsedAtMs: Number.isNaN(usedAtMs) ? undefined : usedAtMs,
      retired: fields[FIELD.retiredHubCa],
    };
  }

  #issuerOf(chain: readonly X509Certificate[]): string | undefined {
    const isIssuer = (ca: X509Certificate): boolean =>
      chain.some(
        (one) => one.fingerprint256 === ca.fingerprint256 || (one.checkIssued(ca) && one.verify(ca.publicKey)),
      );
    const found = this.cas.flatMap(certificatesOf).find(isIssuer);
    return found && nameHubCa(found);
  }
}
