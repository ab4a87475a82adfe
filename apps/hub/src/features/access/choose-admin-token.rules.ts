/**
 * What a start does with the administrator's token of its own file, given those that the database knows. A file that is
 * configured says which token there shall be: a new one takes the place of all before it. A token that took its place is not
 * revoked by a replica that still has the earlier file, and what is revoked does not come back by a start: else two replicas
 * in the midst of a change of the Secret would take each other's tokens away. A token that the hub makes for itself is
 * for the first start on a database: a further data folder adds none, and takes none away.
 */
export interface KnownToken {
  readonly id: string;
  readonly createdAt: Date;
  readonly isLive: boolean;
  readonly revokedFor: RevokedFor | null;
}
export type RevokedFor = 'REPLACED' | 'PERSON';

export interface TokenSituation {
  readonly isConfigured: boolean;
  /** The token of the file, when the database knows it. */
  readonly own: KnownToken | undefined;
  /** Other live tokens of the first administrator. */
  readonly others: readonly KnownToken[];
}

export type TokenChoice =
  | { readonly kind: 'ADD' | 'KEEP'; readonly revoke: readonly string[] }
  /** The file's token is valid no more. */
  | { readonly kind: 'ENDED'; readonly why: RevokedFor | 'EXPIRED' }
  /** Another is valid, and nobody asked for this one. */
  | { readonly kind: 'LEAVE' };

export function chooseAdminToken({ isConfigured, own, others }: TokenSituation): TokenChoice {
  if (own && !own.isLive) return { kind: 'ENDED', why: own.revokedFor ?? 'EXPIRED' };
  if (!isConfigured) {
    if (own) return { kind: 'KEEP', revoke: [] };
    return others.length > 0 ? { kind: 'LEAVE' } : { kind: 'ADD', revoke: [] };
  }
  const before = others.filter(({ createdAt }) => !own || createdAt < own.createdAt);
  return { kind: own ? 'KEEP' : 'ADD', revoke: before.map(({ id }) => id) };
}
