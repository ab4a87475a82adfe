/** What a person does about a hub whose certificate is not trusted; undefined when the failure is another one. */
const UNKNOWN_CA: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
]);

export function explainTlsFailure(code: string | undefined, hubAddress: string): string | undefined {
  if (code === undefined) return undefined;
  if (UNKNOWN_CA.has(code)) {
    return (
      `HUB_CA_UNKNOWN: the certificate at ${hubAddress} is from no CA that this agent trusts (${code}). If the hub's CA was ` +
      'changed while this agent was away, give it the new one: Helm value hub.ca of its chart; its identity stays. ' +
      'If it was not, somebody else answers there'
    );
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return (
      `HUB_CERTIFICATE_EXPIRED: the certificate at ${hubAddress} is not valid now (${code}). The hub renews its own; ` +
      'look at the files it was given, and at the clock of this node'
    );
  }
  return undefined;
}
