/**
 * Who may have a session. An Enrol proves that its sender holds the key it brings; a Hello proves it again over this
 * connection's challenge, this hub's address and the agent's id, so that neither can be used a second time or elsewhere.
 * Nothing here expires, so that a hub away for weeks locks nobody out; revocation is looked up at every Hello.
 */
import { type Clock, showSafely } from '#domain';
import {
  chooseDialect,
  type Dialect,
  type Enrol,
  enrolSigningInput,
  type Hello,
  helloSigningInput,
  type HubPayloads,
  tokenHash,
  verifyInput,
  versionsOf,
} from '#protocol';
import { explainUnfitEnrol } from './enrol-shape.rules.ts';
import type { EnrolmentRepository } from './enrolment.repository.ts';
import type { Acceptance } from './accept-hellos.ts';
import type { AgentRow } from './agent-row.ts';
import type { SessionRepository, WaitingHello } from './session.repository.ts';

/** How long an agent whose approval is pending waits before it asks again; it is told at once when it stays connected. */
const ENROL_RETRY_MS = 15_000;

const QUARANTINED =
  'this agent is quarantined; look at both clusters, then approve it again in the hub, or revoke it and enrol a replacement';

export interface Offer {
  readonly challenge: string;
  /** The public address that the signatures cover. */
  readonly audience: string;
}

export interface HelloOffer extends Offer {
  /** False once the peer has gone, or has waited for longer than it has patience: nothing more is done for it. */
  readonly isWanted: () => boolean;
}

export type HelloAnswer =
  | ({ readonly kind: 'ACCEPTED'; readonly agent: AgentRow; readonly dialect: Dialect } & Extract<
      Acceptance,
      { accepted: true }
    >)
  | { readonly kind: 'REFUSED'; readonly refused: HubPayloads['Refused'] }
  | { readonly kind: 'GONE' }
  | { readonly kind: 'UPGRADE'; readonly upgrade: HubPayloads['UpgradeRequired'] };

export type EnrolAnswer =
  | { readonly kind: 'PENDING'; readonly agentId: string; readonly pending: HubPayloads['EnrolPending'] }
  | { readonly kind: 'ENROLLED'; readonly agentId: string }
  | { readonly kind: 'REFUSED'; readonly refused: HubPayloads['Refused'] };

type Accepted = Omit<Extract<HelloAnswer, { kind: 'ACCEPTED' }>, 'dialect'>;

/** Who is the older one is plain from the numbers. */
function explainUpgrade(ours: readonly number[], hello: Hello): HubPayloads['UpgradeRequired'] {
  const isAgentOlder = Math.max(...ours) > Math.max(0, ...hello.protocolVersions);
  const message =
    `this hub speaks protocol ${ours.join(' and ')}, the agent (version ${hello.agentVersion}) speaks ` +
    `${hello.protocolVersions.join(' and ')}; upgrade the ${isAgentOlder ? 'agent' : 'hub'}`;
  return { supportedProtocolVersions: ours, message };
}

const refused = (
  code: string,
  message: string,
  terminal = true,
): { kind: 'REFUSED'; refused: HubPayloads['Refused'] } => ({
  kind: 'REFUSED',
  refused: { code, message, terminal },
});

export interface HandshakeParts {
  readonly sessions: SessionRepository;
  readonly enrolments: EnrolmentRepository;
  readonly clock: Clock;
  /** What this hub speaks. */
  readonly dialects: readonly Dialect[];
  /** Resolves when an agent that has proven who it is may go on; false: it comes back too often to wait for it. */
  readonly turnOf?: (agentId: string) => Promise<boolean>;
}

export class HandshakeService {
  readonly #sessions: SessionRepository;
  readonly #enrolments: EnrolmentRepository;
  readonly #clock: Clock;
  readonly #dialects: readonly Dialect[];
  readonly #turnOf: (agentId: string) => Promise<boolean>;

  constructor({ sessions, enrolments, clock, dialects, turnOf }: HandshakeParts) {
    this.#sessions = sessions;
    this.#enrolments = enrolments;
    this.#clock = clock;
    this.#dialects = dialects;
    this.#turnOf = turnOf ?? (() => Promise.resolve(true));
  }

  async enrol(offer: Offer, enrol: Enrol): Promise<EnrolAnswer> {
    const { token, publicKey, fingerprint, signature } = enrol;
    const proof = enrolSigningInput({ ...offer, tokenHash: tokenHash(token), publicKey, fingerprint });
    if (!verifyInput(publicKey, proof, signature)) {
      return refused('SIGNATURE_INVALID', 'the enrolment is not signed with the key it brings');
    }
    const unfit = explainUnfitEnrol(enrol);
    if (unfit !== undefined) return refused('INVALID_INPUT', unfit);
    const result = await this.#enrolments.enrol(enrol, this.#clock.nowMs());
    switch (result.state) {
      case 'REFUSED':
        return refused(result.code, result.message);
      case 'ACTIVE':
        return { kind: 'ENROLLED', agentId: result.agentId };
      case 'PENDING_APPROVAL': {
        const message = 'the member cluster waits for approval in the hub';
        return { kind: 'PENDING', agentId: result.agentId, pending: { message, retryAfterMs: ENROL_RETRY_MS } };
      }
    }
  }

  async hello(offer: HelloOffer, hello: Hello): Promise<HelloAnswer> {
    const dialect = chooseDialect(this.#dialects, hello.protocolVersions);
    if (!dialect) return { kind: 'UPGRADE', upgrade: explainUpgrade(versionsOf(this.#dialects), hello) };
    const agent = isUuid(hello.agentId) ? await this.#sessions.findAgent(hello.agentId) : undefined;
    if (!agent) return refused('AGENT_REVOKED', 'this hub does not know the agent; enrol it anew');
    if (!offer.isWanted()) return { kind: 'GONE' };
    const key = findSigningKey(agent, offer, hello);
    if (!key) return refused('SIGNATURE_INVALID', 'the Hello is not signed with the enrolled key');
    const refusal = refuseByState(agent) ?? (await this.#refuseByPlace(agent, hello));
    if (refusal) return refusal;
    const answer = await this.#accept({ agent, hello, signedWith: key, isWanted: offer.isWanted });
    return answer.kind === 'ACCEPTED' ? { ...answer, dialect } : answer;
  }

  async #accept(entry: WaitingHello): Promise<Accepted | ReturnType<typeof refused> | { readonly kind: 'GONE' }> {
    const { agent } = entry;
    if (!(await this.#turnOf(agent.id))) return { kind: 'GONE' };
    const acceptance = await this.#sessions.accept(entry, this.#clock.nowMs());
    if (acceptance.accepted) return { kind: 'ACCEPTED', ...acceptance, agent };
    switch (acceptance.reason) {
      case 'CLONED':
        return refused('AGENT_QUARANTINED', `two live instances use one key: ${QUARANTINED}`);
      case 'HELD':
        return refused(
          'SESSION_HELD',
          'another process of this agent has the session; come back when this one sees its API server',
          false,
        );
      case 'NOT_ACTIVE':
        return refused('AGENT_REVOKED', 'this agent was revoked; enrol it anew');
      case 'GONE':
        return { kind: 'GONE' };
      case 'INCOMPLETE':
        throw new Error(`agent ${agent.id} has no session row or no spec head`);
    }
  }

  /** Key and place belong together: the same key in another cluster is a clone or a theft. */
  async #refuseByPlace(agent: AgentRow, hello: Hello): Promise<ReturnType<typeof refused> | undefined> {
    if (agent.fingerprint !== hello.fingerprint) {
      await this.#sessions.quarantine(
        agent.id,
        `its key was used from another Kubernetes cluster, of fingerprint ${showSafely(hello.fingerprint)}: its Secret or its cluster was copied`,
        this.#clock.nowMs(),
      );
      return refused(
        'FINGERPRINT_MISMATCH',
        'this key belongs to another Kubernetes cluster; the agent is quarantined',
      );
    }
    const namespace = hello.scope.kind === 'NAMESPACE' ? hello.scope.namespace : null;
    if (agent.scopeKind === hello.scope.kind && agent.scopeNamespace === namespace) return undefined;
    return refused('INVALID_INPUT', 'the agent was enrolled for another scope; enrol this one on its own');
  }
}

/** The key of the agent's that signed: after a rotation whose answer was lost the previous one still may. */
function findSigningKey(agent: AgentRow, offer: Offer, hello: Hello): Buffer | undefined {
  const bytes = helloSigningInput(offer.challenge, offer.audience, hello.agentId);
  return (
    [agent.publicKey, agent.previousPublicKey].find(
      (key) => key !== null && verifyInput(key.toString('base64url'), bytes, hello.signature),
    ) ?? undefined
  );
}

function refuseByState(agent: AgentRow): ReturnType<typeof refused> | undefined {
  switch (agent.state) {
    case 'ACTIVE':
      return undefined;
    case 'PENDING_TOKEN':
    case 'PENDING_APPROVAL':
      return refused('MEMBER_CLUSTER_NOT_APPROVED', 'the member cluster waits for approval in the hub', false);
    case 'QUARANTINED':
      return refused('AGENT_QUARANTINED', QUARANTINED);
    case 'REVOKED':
      return refused('AGENT_REVOKED', 'this agent was revoked; enrol it anew');
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Ids come from agents as any text; Postgres refuses a whole statement for one that is no uuid. */
export const isUuid = (text: string): boolean => UUID.test(text);
