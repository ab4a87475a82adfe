/**
 * The agent's answer to a Challenge: an Enrol while it is unknown, a signed Hello from then on. It signs for no other
 * address than the one it dials, so a hub in between cannot pass the answer on to the real one.
 */
import { enrolSigningInput, helloSigningInput, signInput, tokenHash, versionsOf } from '#protocol';
import type { Challenge, Dialect, Enrol, Hello } from '#protocol';
import type { AgentIdentity, Identity } from './agent-identity.ts';
import type { LinkSettings } from './ports.ts';

/** What a Hello says of the agent's present state. */
export type HelloState = Pick<Hello, 'hubEpoch' | 'appliedRevision' | 'specDigest' | 'crdSchemaHash' | 'inventory'>;

export interface HandshakeParts {
  readonly settings: LinkSettings;
  readonly identity: AgentIdentity;
  readonly fingerprint: string;
  /** What this agent speaks. */
  readonly dialects: readonly Dialect[];
  /** Capabilities that name the CAs this agent trusts. */
  readonly hubCas: readonly string[];
  readonly helloState: () => HelloState;
}

export type HandshakeAnswer =
  { readonly type: 'Hello'; readonly payload: Hello } | { readonly type: 'Enrol'; readonly payload: Enrol };

/** Refusals after which a new enrolment helps, when a person gives a new token for it. */
const IDENTITY_IS_DEAD: ReadonlySet<string> = new Set([
  'AGENT_REVOKED',
  'AGENT_QUARANTINED',
  'FINGERPRINT_MISMATCH',
  'SIGNATURE_INVALID',
  'NOT_FOUND',
]);

/** True when the agent should enrol. `refusedCode`: of the last terminal refusal, if it was one. */
export function shouldEnrol(
  identity: Pick<AgentIdentity, 'enrolled' | 'isFresh'>,
  token: string | undefined,
  refusedCode: string | undefined,
): boolean {
  if (token === undefined) return false;
  if (identity.enrolled === undefined) return true;
  // An old token in the values must not undo a good identity; a new one after a refusal is what a person just gave.
  return refusedCode !== undefined && IDENTITY_IS_DEAD.has(refusedCode) && identity.isFresh(token);
}

/** Throws when the hub is not the one that was dialled, or when the agent has neither identity nor token. */
export async function answerChallenge(
  parts: HandshakeParts,
  challenge: Challenge,
  refusedCode: string | undefined,
): Promise<HandshakeAnswer> {
  const { settings, identity } = parts;
  if (challenge.audience.toLowerCase() !== settings.hubAddress.toLowerCase()) {
    throw new Error(
      `the hub calls itself ${challenge.audience}, but this agent dials ${settings.hubAddress}; ` +
        "name this address in the hub's public agent addresses",
    );
  }
  const token = settings.enrolmentToken;
  if (token !== undefined && shouldEnrol(identity, token, refusedCode)) {
    return { type: 'Enrol', payload: await buildEnrol(parts, challenge, token) };
  }
  const enrolled = identity.enrolled;
  if (enrolled === undefined) throw new Error('this agent is not enrolled and has no enrolment token');
  return { type: 'Hello', payload: buildHello(parts, challenge, enrolled) };
}

async function buildEnrol(parts: HandshakeParts, challenge: Challenge, token: string): Promise<Enrol> {
  const { settings, identity, fingerprint } = parts;
  const { privateKeyPem, publicKey } = await identity.pendingKey(token);
  const input = enrolSigningInput({
    challenge: challenge.challenge,
    audience: challenge.audience,
    tokenHash: tokenHash(token),
    publicKey,
    fingerprint,
  });
  return {
    token,
    publicKey,
    fingerprint,
    scope: settings.scope,
    agentVersion: settings.agentVersion,
    instanceId: settings.instanceId,
    signature: signInput(privateKeyPem, input),
  };
}

function buildHello(parts: HandshakeParts, challenge: Challenge, { agentId, key }: Identity): Hello {
  const { settings, fingerprint, hubCas } = parts;
  const input = helloSigningInput(challenge.challenge, challenge.audience, agentId);
  return {
    protocolVersions: versionsOf(parts.dialects),
    agentId,
    agentVersion: settings.agentVersion,
    instanceId: settings.instanceId,
    scope: settings.scope,
    fingerprint,
    capabilities: ['RedisCluster/v1alpha1', ...hubCas],
    ...parts.helloState(),
    signature: signInput(key.privateKeyPem, input),
  };
}
