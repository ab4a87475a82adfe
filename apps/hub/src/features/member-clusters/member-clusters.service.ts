/**
 * Enrolment, approval, revocation. The token is shown once and stored as its hash; what the agent sends with it (key and
 * fingerprint) binds only when a person approves. Each method works in the caller's transaction.
 */
import { asAgentId, asMemberClusterId, type Outcome, refuse, succeed } from '#domain';
import { EMPTY_DIGEST, tokenHash } from '#protocol';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

import { appendChanges } from '../../platform/database/change-log.ts';
import { readDatabaseMs } from '../../platform/database/partitions.ts';
import { signalsOf } from '../../platform/database/signals.ts';
import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import { IDS, type IdSource } from '../../platform/lifecycle/time-and-ids.ts';
import { loseSight } from '../agent-link/index.ts';
import { checkEnrolment, formatInstallCommand, TOKEN_VALID_MS } from './enrolment.rules.ts';
import * as rows from './enrolment.repository.ts';
import { findPredecessors, moveObjects } from './replacement.repository.ts';
import type {
  Actor,
  ApprovedAgent,
  ApproveAgentInput,
  EnrolledMemberCluster,
  EnrolMemberClusterInput,
  IssuedToken,
  ReplacedMemberCluster,
  ReplaceMemberClusterInput,
  ReissueTokenInput,
  RevokeAgentInput,
} from './member-clusters.types.ts';

interface Request<I> {
  readonly input: I;
  readonly actor: Actor;
  readonly nowMs: number;
}

const TOKEN_BYTES = 24;
const NOTHING_TO_REPLACE =
  'that member cluster has no agent of this scope to replace; approve this one with approveAgent';

@Injectable()
export class MemberClustersService {
  constructor(
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(IDS) private readonly ids: IdSource,
  ) {}

  async enrolMemberCluster(
    tx: EntityManager,
    { input, nowMs }: Request<EnrolMemberClusterInput>,
  ): Promise<Outcome<EnrolledMemberCluster>> {
    const checked = checkEnrolment(input, this.runtime.addresses.agents);
    if (!checked.ok) return checked;
    if (await rows.isNameTaken(tx, input.name)) {
      return refuse('ALREADY_EXISTS', `a member cluster is called ${input.name} already`, ['input', 'name']);
    }
    const memberClusterId = asMemberClusterId(this.ids.newId());
    const agentId = asAgentId(this.ids.newId());
    await rows.insertMemberCluster(tx, { id: memberClusterId, input, nowMs });
    await rows.insertAgent(tx, { id: agentId, memberClusterId, input, nowMs, emptyDigest: EMPTY_DIGEST });
    const issued = await this.#issueToken(tx, { input: { ...input, agentId } });
    await appendChanges(tx, nowMs, [{ topic: 'memberCluster', subject: memberClusterId, kind: 'CHANGED' }]);
    return succeed({ memberClusterId, agentId, ...issued });
  }

  /** A new token in place of one that no agent came with; the old one no longer counts. */
  async reissueToken(tx: EntityManager, { input }: Request<ReissueTokenInput>): Promise<Outcome<IssuedToken>> {
    const agent = await rows.lockAgent(tx, input.agentId);
    if (agent?.state !== 'PENDING_TOKEN') return refuse('TOKEN_INVALID', 'an agent came with the token already');
    await rows.dropTokens(tx, agent.id);
    return succeed(await this.#issueToken(tx, { input }));
  }

  async #issueToken(tx: EntityManager, { input }: Pick<Request<ReissueTokenInput>, 'input'>): Promise<IssuedToken> {
    const { addresses, tls } = this.runtime;
    const token = `atoll_${this.ids.randomBytes(TOKEN_BYTES).toString('base64url')}`;
    // By the clock of the database, which all replicas share: whichever the agent comes to judges it.
    const tokenExpiresAt = new Date((await readDatabaseMs(tx)) + TOKEN_VALID_MS);
    await rows.insertToken(tx, Buffer.from(tokenHash(token), 'hex'), input.agentId, tokenExpiresAt);
    const hubAddress = input.hubAddress ?? addresses.agents[0] ?? '';
    const caCertificate = tls.trustBundle;
    const { scope, namespace } = input;
    const place = { hubAddress, caCertificate, scope, ...(namespace === undefined ? {} : { namespace }) };
    return { token, tokenExpiresAt, installCommand: formatInstallCommand(place), caCertificate, hubAddress };
  }

  /**
   * Binds key and fingerprint. A fingerprint that another member cluster has is the same Kubernetes cluster twice. One
   * that is quarantined gets its key back: a person has looked at both places that used it.
   */
  async approveAgent(tx: EntityManager, { input, nowMs }: Request<ApproveAgentInput>): Promise<Outcome<ApprovedAgent>> {
    const agent = await rows.lockAgent(tx, input.agentId);
    if (!agent) return refuse('NOT_FOUND', 'there is no such agent', ['input', 'agentId']);
    const memberClusterId = input.memberClusterId ?? agent.memberClusterId;
    const approved = { agentId: asAgentId(agent.id), memberClusterId: asMemberClusterId(memberClusterId) };
    if (agent.state === 'ACTIVE' && memberClusterId === agent.memberClusterId) return succeed(approved);
    const refusal = refuseApproval(agent, memberClusterId) ?? (await refusePlace(tx, agent, memberClusterId));
    if (refusal) return refusal;
    const joined = await rows.activate(tx, { agent, memberClusterId, nowMs });
    if (!joined) return refuse('NOT_FOUND', 'there is no such member cluster', ['input', 'memberClusterId']);
    await appendChanges(tx, nowMs, [{ topic: 'memberCluster', subject: memberClusterId, kind: 'CHANGED' }]);
    if (memberClusterId !== agent.memberClusterId && (await rows.forgetIfLeft(tx, agent.memberClusterId))) {
      await appendChanges(tx, nowMs, [{ topic: 'memberCluster', subject: agent.memberClusterId, kind: 'DELETED' }]);
    }
    signalsOf(tx.dataSource).sendAfterCommit(tx, 'agent', agent.id);
    return succeed(approved);
  }

  /**
   * A member cluster that was rebuilt, restored, or whose agent was reinstalled: the enrolled agent takes over what the old
   * one of its scope served. The old one is revoked first, so that two never serve one object.
   */
  async replaceMemberCluster(
    tx: EntityManager,
    { input, actor, nowMs }: Request<ReplaceMemberClusterInput>,
  ): Promise<Outcome<ReplacedMemberCluster>> {
    const { agentId, memberClusterId } = input;
    const agent = await rows.lockAgent(tx, agentId);
    if (!agent) return refuse('NOT_FOUND', 'there is no such agent', ['input', 'agentId']);
    const predecessors = await findPredecessors(tx, agentId, memberClusterId);
    if (predecessors.length === 0) return refuse('NOT_FOUND', NOTHING_TO_REPLACE, ['input', 'memberClusterId']);
    for (const each of predecessors) {
      const old = await rows.lockAgent(tx, each);
      if (old) await this.#revoke(tx, old, nowMs);
    }
    const approved = await this.approveAgent(tx, { input, actor, nowMs });
    if (!approved.ok) return approved;
    const hubUids = await moveObjects(tx, agentId, predecessors);
    await loseSight(tx, agentId, nowMs);
    return succeed({ ...approved.value, hubUids });
  }

  /** Its live session ends at once on whichever replica holds it; its key is refused from then on. */
  async revokeAgent(tx: EntityManager, { input, nowMs }: Request<RevokeAgentInput>): Promise<Outcome<ApprovedAgent>> {
    const agent = await rows.lockAgent(tx, input.agentId);
    if (!agent) return refuse('NOT_FOUND', 'there is no such agent', ['input', 'agentId']);
    await this.#revoke(tx, agent, nowMs);
    return succeed({ agentId: asAgentId(agent.id), memberClusterId: asMemberClusterId(agent.memberClusterId) });
  }

  /** Revokes all its agents, then forgets it: its name is free. What it runs goes on running; its objects are orphans. */
  async forgetMemberCluster(
    tx: EntityManager,
    { input, nowMs }: Request<{ readonly memberClusterId: string }>,
  ): Promise<Outcome<{ readonly memberClusterId: string }>> {
    const agentIds = await rows.listAgents(tx, input.memberClusterId);
    if (!(await rows.forget(tx, input.memberClusterId))) {
      return refuse('NOT_FOUND', 'there is no such member cluster', ['input', 'memberClusterId']);
    }
    for (const agentId of agentIds) {
      const agent = await rows.lockAgent(tx, agentId);
      if (agent) await this.#revoke(tx, agent, nowMs);
    }
    await appendChanges(tx, nowMs, [{ topic: 'memberCluster', subject: input.memberClusterId, kind: 'DELETED' }]);
    return succeed({ memberClusterId: input.memberClusterId });
  }

  async #revoke(tx: EntityManager, agent: rows.AgentRow, nowMs: number): Promise<void> {
    if (agent.state === 'REVOKED') return;
    await rows.setState(tx, agent.id, 'REVOKED');
    await loseSight(tx, agent.id, nowMs);
    for (const channel of ['session', 'agent'] as const)
      signalsOf(tx.dataSource).sendAfterCommit(tx, channel, agent.id);
  }
}

/** A quarantined agent may only return to where it was: its objects are there. */
function refuseApproval(agent: rows.AgentRow, memberClusterId: string): Outcome<never> | undefined {
  const hasCome = agent.state === 'PENDING_APPROVAL' && agent.fingerprint !== null;
  const returns = agent.state === 'QUARANTINED' && memberClusterId === agent.memberClusterId;
  if (hasCome || returns) return undefined;
  const advice =
    agent.state === 'QUARANTINED'
      ? 'approve it without memberClusterId, or revoke it and enrol a replacement'
      : 'it must enrol first';
  return refuse('INVALID_INPUT', `an agent that is ${agent.state} cannot be approved like this; ${advice}`, [
    'input',
    'agentId',
  ]);
}

async function refusePlace(
  tx: EntityManager,
  agent: rows.AgentRow,
  memberClusterId: string,
): Promise<Outcome<never> | undefined> {
  const twin = await findTwin(tx, agent, memberClusterId);
  if (twin !== undefined) {
    const message = `this Kubernetes cluster is the member cluster ${twin} already; approve with its memberClusterId to replace its agent`;
    return refuse('ALREADY_EXISTS', message, ['input', 'agentId']);
  }
  if (!(await rows.isScopeTaken(tx, agent.id, memberClusterId))) return undefined;
  const message = 'that member cluster has an agent of this scope already; revoke that one first';
  return refuse('ALREADY_EXISTS', message, ['input', 'memberClusterId']);
}

/** The name of another member cluster with this fingerprint; only an agent of scope CLUSTER brings one that counts. */
async function findTwin(tx: EntityManager, agent: rows.AgentRow, memberClusterId: string): Promise<string | undefined> {
  if (agent.scopeKind !== 'CLUSTER' || agent.fingerprint === null) return undefined;
  const twin = await rows.findByFingerprint(tx, agent.fingerprint);
  return twin === undefined || twin.id === memberClusterId ? undefined : twin.name;
}
