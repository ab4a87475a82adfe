/**
 * Enrolment as mutations: authorisation, audit and idempotency around the use cases of MemberClustersService. A token is
 * shown once and kept nowhere, so an idempotency key cannot give it again: a repeat issues a new one instead, as long as
 * no agent came with the first.
 */
import { type Clock, type Outcome, refuse, succeed } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hasFleetRole, type Caller } from '../../platform/auth/index.ts';
import { decodeGlobalId, encodeGlobalId, toUserError, type NodeType } from '../../platform/graphql/index.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { RunMutationService, type AuditNote } from '../audit/index.ts';
import { readEnrolInput } from './enrol-input.rules.ts';
import { MemberClustersService } from './member-clusters.service.ts';
import { ScopeKinds } from './member-cluster.enums.ts';
import type {
  ApproveAgentInput,
  EnrolMemberClusterInput,
  ForgetMemberClusterInput,
  ReplaceMemberClusterInput,
  RevokeAgentInput,
} from './member-cluster.inputs.ts';
import type {
  ApproveAgentPayload,
  EnrolMemberClusterPayload,
  ForgetMemberClusterPayload,
  ReplaceMemberClusterPayload,
  RevokeAgentPayload,
} from './member-cluster.payload.ts';
import type { IssuedToken, ReplacedMemberCluster } from './member-clusters.types.ts';
import { PresentMemberClusterService } from './present-member-cluster.service.ts';

interface Enrolled {
  readonly memberClusterId: string;
  readonly agentId: string;
}
interface Request<I> {
  readonly input: I;
  readonly actor: { readonly principal: string };
  readonly nowMs: number;
}

@Injectable()
export class EnrolmentMutationsService {
  constructor(
    private readonly mutations: RunMutationService,
    private readonly enrolment: MemberClustersService,
    private readonly present: PresentMemberClusterService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async enrol(input: EnrolMemberClusterInput, caller: Caller): Promise<EnrolMemberClusterPayload> {
    const request = { ...input, scope: input.scope ?? ScopeKinds.CLUSTER };
    let issued: IssuedToken | undefined;
    const { shown, errors } = await this.mutations.run({
      action: 'enrolMemberCluster',
      caller,
      input: request,
      work: async (tx, note): Promise<Outcome<Enrolled>> => {
        note.target = input.name;
        const allowed = allow(caller);
        const wanted = allowed.ok ? readEnrolInput(input) : allowed;
        const done = wanted.ok
          ? await this.enrolment.enrolMemberCluster(tx, this.request(wanted.value, caller))
          : wanted;
        if (!done.ok) return done;
        issued = done.value;
        const { memberClusterId, agentId } = done.value;
        note.target = encodeGlobalId('MemberCluster', memberClusterId);
        note.after = wanted.ok ? wanted.value : undefined;
        return succeed({ memberClusterId, agentId });
      },
      mayRepeat: (_tx, note) => mayRepeat(caller, note, input.name),
      show: async (tx, done: Enrolled, repeated) => {
        if (repeated) issued = await this.reissue(tx, done, input, caller);
        return { ...(await this.present.show(tx, done)), ...this.present.token(issued) };
      },
    });
    const nothing = { memberCluster: null, agent: null, ...this.present.token(undefined) };
    return { ...(shown ?? nothing), userErrors: errors.map(toUserError) };
  }

  async approve(input: ApproveAgentInput, caller: Caller): Promise<ApproveAgentPayload> {
    const { shown, errors } = await this.mutations.run({
      action: 'approveAgent',
      caller,
      input,
      work: (tx, note) =>
        this.forAgent(input.agentId, { caller, note }, async (agentId): Promise<Outcome<Enrolled>> => {
          const joined = decodeOptional('MemberCluster', input.memberClusterId);
          if (joined === null)
            return refuse('NOT_FOUND', 'There is no such member cluster.', ['input', 'memberClusterId']);
          const wanted = { agentId, ...(joined === undefined ? {} : { memberClusterId: joined }) };
          return this.enrolment.approveAgent(tx, this.request(wanted, caller));
        }),
      mayRepeat: (_tx, note) => mayRepeat(caller, note, input.agentId),
      show: (tx, done: Enrolled) => this.present.show(tx, done),
    });
    return { ...(shown ?? { agent: null, memberCluster: null }), userErrors: errors.map(toUserError) };
  }

  async replace(input: ReplaceMemberClusterInput, caller: Caller): Promise<ReplaceMemberClusterPayload> {
    const { shown, errors } = await this.mutations.run({
      action: 'replaceMemberCluster',
      caller,
      input,
      work: (tx, note) =>
        this.forAgent(input.agentId, { caller, note }, async (agentId): Promise<Outcome<ReplacedMemberCluster>> => {
          note.target = input.memberClusterId;
          note.after = { agentId: input.agentId };
          const memberClusterId = decodeGlobalId('MemberCluster', input.memberClusterId);
          if (memberClusterId === undefined) {
            return refuse('NOT_FOUND', 'There is no such member cluster.', ['input', 'memberClusterId']);
          }
          return this.enrolment.replaceMemberCluster(tx, this.request({ agentId, memberClusterId }, caller));
        }),
      mayRepeat: (_tx, note) => mayRepeat(caller, note, input.memberClusterId),
      show: async (tx, done: ReplacedMemberCluster) => ({
        ...(await this.present.show(tx, done)),
        hubUids: [...done.hubUids],
      }),
    });
    return { ...(shown ?? { agent: null, memberCluster: null, hubUids: [] }), userErrors: errors.map(toUserError) };
  }

  async revoke(input: RevokeAgentInput, caller: Caller): Promise<RevokeAgentPayload> {
    const { shown, errors } = await this.mutations.run({
      action: 'revokeAgent',
      caller,
      input,
      work: (tx, note) =>
        this.forAgent(input.agentId, { caller, note }, (agentId): Promise<Outcome<Enrolled>> =>
          this.enrolment.revokeAgent(tx, this.request({ agentId }, caller)),
        ),
      mayRepeat: (_tx, note) => mayRepeat(caller, note, input.agentId),
      show: (tx, done: Enrolled) => this.present.show(tx, done),
    });
    return { agent: shown?.agent ?? null, userErrors: errors.map(toUserError) };
  }

  async forget(input: ForgetMemberClusterInput, caller: Caller): Promise<ForgetMemberClusterPayload> {
    const { shown, errors } = await this.mutations.run({
      action: 'forgetMemberCluster',
      caller,
      input,
      work: async (tx, note): Promise<Outcome<{ readonly memberClusterId: string }>> => {
        note.target = input.memberClusterId;
        const allowed = allow(caller);
        if (!allowed.ok) return allowed;
        const memberClusterId = decodeGlobalId('MemberCluster', input.memberClusterId);
        if (memberClusterId === undefined) {
          return refuse('NOT_FOUND', 'There is no such member cluster.', ['input', 'memberClusterId']);
        }
        return this.enrolment.forgetMemberCluster(tx, this.request({ memberClusterId }, caller));
      },
      mayRepeat: (_tx, note) => mayRepeat(caller, note, input.memberClusterId),
      show: (tx, done: { readonly memberClusterId: string }) => this.present.showForgotten(tx, done.memberClusterId),
    });
    return { ...(shown ?? { memberCluster: null, orphanedHubUids: [] }), userErrors: errors.map(toUserError) };
  }

  private async reissue(
    tx: EntityManager,
    done: Enrolled,
    input: EnrolMemberClusterInput,
    caller: Caller,
  ): Promise<IssuedToken | undefined> {
    const wanted = readEnrolInput(input);
    if (!wanted.ok) return undefined;
    const outcome = await this.enrolment.reissueToken(
      tx,
      this.request({ ...wanted.value, agentId: done.agentId }, caller),
    );
    return outcome.ok ? outcome.value : undefined;
  }

  private async forAgent<T>(
    id: string,
    { caller, note }: { readonly caller: Caller; readonly note: AuditNote },
    work: (agentId: string) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    note.target = id;
    const allowed = allow(caller);
    if (!allowed.ok) return allowed;
    const agentId = decodeGlobalId('Agent', id);
    return agentId === undefined ? refuse('NOT_FOUND', 'There is no such agent.', ['input', 'agentId']) : work(agentId);
  }

  private request<I>(input: I, caller: Caller): Request<I> {
    return { input, actor: { principal: caller.viewer.name }, nowMs: this.clock.nowMs() };
  }
}

const allow = ({ viewer }: Caller): Outcome<void> =>
  hasFleetRole(viewer, 'ADMIN')
    ? succeed(undefined)
    : refuse('FORBIDDEN', 'Member clusters and agents need the role ADMIN over the whole fleet.');

function mayRepeat(caller: Caller, note: AuditNote, target: string): Promise<Outcome<void>> {
  note.target = target;
  return Promise.resolve(allow(caller));
}

/** null: given, and none of ours. */
const decodeOptional = (type: NodeType, id: string | null | undefined): string | null | undefined =>
  id === null || id === undefined ? undefined : (decodeGlobalId(type, id) ?? null);
