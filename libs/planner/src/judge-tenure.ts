/**
 * What an agent does about the ownership of one namespace, from ConfigMap atoll-scope alone (04, Scopes). Invariants:
 * only the owner changes `owner`, so of two agents never both act; a request names somebody who can serve the namespace,
 * or it is nobody's; the agent of one namespace asks by itself, since it was installed for that very namespace, but not
 * after it has handed over, and a cluster-wide agent never asks by itself: else the two would pass the namespace back
 * and forth at each restart.
 */
import { formatScopeOwner, type Scope, type ScopeRecord } from '#domain';

export type Tenure =
  | { readonly kind: 'OWN' }
  /** Own, but asked for: finish, then make `to` the owner. */
  | { readonly kind: 'HAND_OVER'; readonly to: string }
  /** Write our name into `requestedBy`. */
  | { readonly kind: 'ASK' }
  | { readonly kind: 'LOOK_ON' };

export interface TenureInput {
  readonly record: ScopeRecord;
  readonly scope: Scope;
  readonly namespace: string;
  /** This process has asked before: it does not insist. */
  readonly hasAsked: boolean;
}

export const judgeTenure = ({ record, scope, namespace, hasAsked }: TenureInput): Tenure => {
  const self = formatScopeOwner(scope);
  if (record.owner === self) {
    const to = record.requestedBy;
    return to !== undefined && to !== self && canServe(to, namespace) ? { kind: 'HAND_OVER', to } : { kind: 'OWN' };
  }
  const asks = scope.kind === 'NAMESPACE' && !hasAsked && record.releasedBy !== self && record.requestedBy !== self;
  return asks ? { kind: 'ASK' } : { kind: 'LOOK_ON' };
};

/** A cluster-wide agent, or the agent of this very namespace. */
const canServe = (owner: string, namespace: string): boolean =>
  owner === 'CLUSTER' || owner === formatScopeOwner({ kind: 'NAMESPACE', namespace });
