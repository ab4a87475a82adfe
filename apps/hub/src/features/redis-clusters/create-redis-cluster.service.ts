import { type Clock, type Outcome, refuse, succeed } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../../platform/auth/index.ts';
import { decodeGlobalId, encodeGlobalId } from '../../platform/graphql/index.ts';
import { CLOCK, IDS, type IdSource } from '../../platform/lifecycle/time-and-ids.ts';
import { AccessService, type ProjectRow } from '../access/index.ts';
import { changeDesired } from '../agent-link/index.ts';
import { RunMutationService, type AuditNote } from '../audit/index.ts';
import { type AgentCandidate, chooseAgent } from './choose-agent.rules.ts';
import { checkNames } from './names.rules.ts';
import { PresentRedisClusterService } from './present-redis-cluster.service.ts';
import type { CreateRedisClusterInput } from './redis-cluster.inputs.ts';
import type { CreateRedisClusterPayload } from './redis-cluster.payload.ts';
import { RedisClusterWritesRepository } from './redis-cluster-writes.repository.ts';
import { announce, freeze, type Revised } from './revise-redis-cluster.service.ts';
import { readSpecInput } from './spec-input.rules.ts';

@Injectable()
export class CreateRedisClusterService {
  constructor(
    private readonly mutations: RunMutationService,
    private readonly access: AccessService,
    private readonly writes: RedisClusterWritesRepository,
    private readonly present: PresentRedisClusterService,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: IdSource,
  ) {}

  async create(input: CreateRedisClusterInput, caller: Caller): Promise<CreateRedisClusterPayload> {
    const answer = await this.mutations.run({
      action: 'createRedisCluster',
      caller,
      input,
      work: (tx, note) => this.work(tx, note, input, caller),
      mayRepeat: (tx, note, done: Revised) =>
        this.present.mayRepeat(tx, note, {
          hubUids: [done.hubUid],
          caller,
          role: 'OPERATOR',
          field: ['input', 'project'],
        }),
      show: (tx, done: Revised) => this.present.show(tx, done.hubUid),
    });
    return this.present.payload(answer);
  }

  private async work(
    tx: EntityManager,
    note: AuditNote,
    input: CreateRedisClusterInput,
    caller: Caller,
  ): Promise<Outcome<Revised>> {
    note.target = `${input.namespace}/${input.name}`;
    const project = await this.access.resolveProject(tx, input.project ?? undefined, { caller, role: 'OPERATOR' });
    if (!project.ok) return project;
    note.projectId = project.value.id;
    const names = checkNames(input);
    const spec = readSpecInput(input.spec);
    if (names.length > 0 || !spec.ok) return { ok: false, errors: [...names, ...(spec.ok ? [] : spec.errors)] };
    const frozen = freeze(spec.value);
    if (!frozen.ok) return frozen;
    const place = await this.place(tx, input);
    if (!place.ok) return place;
    return this.insert(tx, note, { input, project: project.value, place: place.value, spec: frozen.value });
  }

  private async place(
    tx: EntityManager,
    input: CreateRedisClusterInput,
  ): Promise<Outcome<AgentCandidate & { readonly memberClusterId: string }>> {
    const id = decodeGlobalId('MemberCluster', input.memberClusterId);
    const placement = id === undefined ? undefined : await this.writes.findPlacement(tx, id);
    const field = ['input', 'memberClusterId'];
    if (id === undefined || !placement) return refuse('NOT_FOUND', 'There is no such member cluster.', field);
    if (placement.memberClusterState !== 'ACTIVE') {
      const message = `Member cluster "${placement.memberClusterName}" waits for approval of its agent.`;
      return about(id, refuse('MEMBER_CLUSTER_NOT_APPROVED', message, field));
    }
    const agent = chooseAgent(placement.agents, input.namespace);
    return agent.ok ? succeed({ ...agent.value, memberClusterId: id }) : about(id, agent);
  }

  private async insert(tx: EntityManager, note: AuditNote, made: Made): Promise<Outcome<Revised>> {
    const { input, project, place, spec } = made;
    const hubUid = this.ids.newId();
    const nowMs = this.clock.nowMs();
    const driftPolicy = input.driftPolicy ?? 'Report';
    const inserted = await this.writes.insert(tx, {
      hubUid,
      projectId: project.id,
      memberClusterId: place.memberClusterId,
      agentId: place.id,
      namespace: input.namespace,
      name: input.name,
      spec,
      driftPolicy,
      adopt: input.adopt ?? false,
      at: new Date(nowMs),
    });
    if (!inserted) {
      const message = `There is a RedisCluster "${input.name}" in namespace "${input.namespace}" of this member cluster.`;
      return refuse('ALREADY_EXISTS', message, ['input', 'name']);
    }
    note.target = encodeGlobalId('RedisCluster', hubUid);
    note.after = { generation: 1, spec: JSON.parse(spec.text) as unknown, driftPolicy };
    await changeDesired(tx, place.id, hubUid, 'UPSERT');
    await announce(tx, { hub_uid: hubUid, project_id: project.id }, nowMs);
    return succeed({ hubUid });
  }
}

interface Made {
  readonly input: CreateRedisClusterInput;
  readonly project: ProjectRow;
  readonly place: AgentCandidate & { readonly memberClusterId: string };
  readonly spec: { readonly text: string; readonly hash: string };
}

const about = (memberClusterId: string, refused: Outcome<never> | Outcome<AgentCandidate>): Outcome<never> => ({
  ok: false,
  errors: refused.ok ? [] : refused.errors.map((error) => ({ ...error, memberClusterId })),
});
