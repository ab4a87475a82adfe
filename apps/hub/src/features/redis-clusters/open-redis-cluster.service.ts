/**
 * The gate of every change of an existing RedisCluster: it exists and the caller may see it (else NOT_FOUND, whichever
 * of the two), the caller may change it, its agent is still there, it is not being deleted, and the caller has seen its
 * current generation. The row is locked, so that what was checked holds until the commit.
 */
import { type Outcome, refuse, succeed } from '#domain';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hasRole, mayRead, type Caller } from '../../platform/auth/index.ts';
import { decodeGlobalId } from '../../platform/graphql/index.ts';
import { AuditRepository, type AuditNote } from '../audit/index.ts';
import { listChangedFields } from './changed-fields.rules.ts';
import type { RedisClusterRow } from './redis-cluster.entity.ts';
import { showSpec } from './redis-cluster.mapper.ts';
import { RedisClustersRepository } from './redis-clusters.repository.ts';

export interface Target {
  readonly id: string;
  readonly expectedGeneration?: number | null;
}

export interface OpenOptions {
  readonly caller: Caller;
  /** Also when a tombstone is pending, or when the agent was revoked. */
  readonly evenWhenLeaving?: boolean;
}

@Injectable()
export class OpenRedisClusterService {
  constructor(
    private readonly repository: RedisClustersRepository,
    private readonly audit: AuditRepository,
  ) {}

  async open(
    tx: EntityManager,
    target: Target,
    note: AuditNote,
    options: OpenOptions,
  ): Promise<Outcome<RedisClusterRow>> {
    note.target = target.id;
    const { viewer } = options.caller;
    const hubUid = decodeGlobalId('RedisCluster', target.id);
    const row = hubUid === undefined ? undefined : await this.repository.lock(tx, hubUid);
    if (!row || !mayRead(viewer, row.project_id)) {
      return refuse('NOT_FOUND', 'There is no such RedisCluster that you may see.', ['input', 'id']);
    }
    note.projectId = row.project_id;
    note.before = stateOf(row);
    if (!hasRole(viewer, 'OPERATOR', row.project_id)) {
      return refuse('FORBIDDEN', 'This needs the role OPERATOR in its project.', ['input', 'id']);
    }
    const leaving = options.evenWhenLeaving === true ? undefined : refuseLeaving(row);
    return leaving ?? this.checkGeneration(tx, target, row);
  }

  private async checkGeneration(
    tx: EntityManager,
    target: Target,
    row: RedisClusterRow,
  ): Promise<Outcome<RedisClusterRow>> {
    const expected = target.expectedGeneration;
    const field = ['input', 'expectedGeneration'];
    if (expected === undefined) {
      return refuse('INVALID_INPUT', 'Say which generation you saw, or null to force the change.', field);
    }
    if (expected === null || expected === row.hub_generation) return succeed(row);
    const before = await this.audit.findState(tx, target.id, expected);
    const changedFields = isState(before) ? [...listStateChanges(before, stateOf(row))] : [];
    const what = changedFields.length > 0 ? ` Changed since: ${changedFields.join(', ')}.` : '';
    const message = `The generation is ${row.hub_generation}, not ${expected}.${what}`;
    return { ok: false, errors: [{ code: 'GENERATION_CONFLICT', message, field, retryable: false, changedFields }] };
  }
}

/** What audit keeps of a RedisCluster, and conflicts are told from. */
export interface RedisClusterState {
  readonly generation: number;
  readonly spec: unknown;
  readonly driftPolicy: string;
}

export const stateOf = (row: RedisClusterRow): RedisClusterState => ({
  generation: row.hub_generation,
  spec: showSpec(row),
  driftPolicy: row.drift_policy,
});

export const isState = (value: unknown): value is RedisClusterState =>
  typeof value === 'object' && value !== null && 'spec' in value;

export const listStateChanges = (before: RedisClusterState, after: RedisClusterState): readonly string[] => [
  ...listChangedFields(before.spec, after.spec),
  ...(before.driftPolicy === after.driftPolicy ? [] : ['driftPolicy']),
];

function refuseLeaving(row: RedisClusterRow): Outcome<never> | undefined {
  const field = ['input', 'id'];
  if (row.deletion !== null) return refuse('BEING_DELETED', 'A delete of this RedisCluster is on its way.', field);
  if (row.agent_state !== 'REVOKED') return undefined;
  return refuse(
    'AGENT_REVOKED',
    'The agent that held this RedisCluster was revoked; forget it, or adopt it anew.',
    field,
  );
}
