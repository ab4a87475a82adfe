/**
 * Which CAs of the hub an agent keeps, from those it holds, the one that the hub's certificate was verified with, and what the
 * hub announced. Invariant: a CA that is announced, in use, or was in use until a week ago is trusted, so neither a switch
 * of the hub, nor its way back, nor replicas of which only some have switched can lock an agent out; without the week
 * an agent that met the first switched replica would refuse the others. Only use drops a CA, never its absence in an
 * announcement: a replica that was not told of it yet announces nothing.
 */
export const DROP_OLD_CA_AFTER_MS = 7 * 24 * 3600_000;

export interface HubCas {
  /** PEM, one or several certificates. */
  readonly current: string | undefined;
  readonly next: string | undefined;
  /** Since when the hub has been met with `next` alone; ms since 1970. */
  readonly nextUsedAtMs: number | undefined;
  /** A CA that was given at the installation and has been dropped since: that it is still given means nothing. */
  readonly retired: string | undefined;
}

export interface HubCaSighting {
  readonly nowMs: number;
  /** Fingerprint of the certificate among the trusted ones that the hub was verified with; absent when it is not known. */
  readonly verifiedWith?: string;
  /** What the agent's own settings give, PEM. */
  readonly given?: string;
  /** PEM. */
  readonly announced?: string;
}

/** `fingerprintsOf` reads the certificates of a PEM text; one that cannot be read has none. */
export function settleHubCa(
  held: HubCas,
  sighting: HubCaSighting,
  fingerprintsOf: (pem: string | undefined) => readonly string[],
): HubCas {
  const { verifiedWith } = sighting;
  const holds = (pem: string | undefined, wanted: string | undefined): boolean =>
    wanted !== undefined && fingerprintsOf(pem).includes(wanted);
  const used = settleUse(held, sighting, holds);
  const announced = fingerprintsOf(sighting.announced);
  const isKnown = (one: string): boolean => holds(used.current, one) || holds(used.next, one);
  if (sighting.announced === undefined || announced.length === 0 || announced.every(isKnown)) return used;
  // The hub is met with what was next, and names another one to come: what was next is the current one.
  if (used.next !== undefined && holds(used.next, verifiedWith) && !holds(used.current, verifiedWith)) {
    return { current: used.next, next: sighting.announced, nextUsedAtMs: undefined, retired: used.current };
  }
  return { ...used, next: sighting.announced, nextUsedAtMs: undefined };
}

function settleUse(
  held: HubCas,
  { verifiedWith, given, announced, nowMs }: HubCaSighting,
  holds: (pem: string | undefined, wanted: string | undefined) => boolean,
): HubCas {
  if (verifiedWith === undefined) return held;
  if (holds(held.current, verifiedWith)) return { ...held, nextUsedAtMs: undefined };
  if (!holds(held.next, verifiedWith)) {
    // Neither: a person gave this one, since the agent had missed its announcement.
    return given !== undefined && holds(given, verifiedWith)
      ? { ...held, current: given, nextUsedAtMs: undefined, retired: undefined }
      : held;
  }
  const sinceMs = held.nextUsedAtMs ?? nowMs;
  const isOldAnnounced = announced !== undefined && announced === held.current;
  if (isOldAnnounced || nowMs - sinceMs < DROP_OLD_CA_AFTER_MS) return { ...held, nextUsedAtMs: sinceMs };
  return { current: held.next, next: undefined, nextUsedAtMs: undefined, retired: held.current };
}
