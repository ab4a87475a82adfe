/**
 * Runs a mutation: one transaction that holds the work, its idempotency key and its audit row, so that none of them is
 * ever there without the others. A refusal or a dry run rolls the work back and is audited on its own, many of a kind in one
 * row (merged-refusals.ts). Deadlocks and serialisation failures are tried again. Every mutation of the API goes through here; what does not is not audited.
 */
import type { Clock, Outcome, UserError } from '#domain';
import { canonicalJson, sha256Hex } from '#protocol';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ApiDatabase } from '../../platform/database/pools.ts';
import type { Caller } from '../../platform/auth/index.ts';
import { untilPartitioned } from '../../platform/database/missing-partition.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import type { AuditResult } from './audit.model.ts';
import { AuditRepository, type NewAuditRow } from './audit.repository.ts';
import { type IdempotencyClaim, IdempotencyRepository } from './idempotency.repository.ts';
import { RecordUndoneService } from './record-undone.service.ts';
import { describeTarget, findOutOfBounds } from './input-bounds.rules.ts';
import { redactSecrets } from './redact-secrets.rules.ts';

/** What the audit row says; the work fills it in as it learns it, so that refusals are told too. */
export interface AuditNote {
  target?: string;
  projectId?: string;
  before?: unknown;
  after?: unknown;
}

export interface MutationCall {
  /** Name of the mutation in the schema. */
  readonly action: string;
  readonly caller: Caller;
  readonly input: { readonly idempotencyKey?: string | null; readonly dryRun?: boolean | null };
}

export interface Mutation<Done, Shown> extends MutationCall {
  /** `Done` is plain JSON without secrets: it is kept with the idempotency key, and given to the others on a repeat. */
  work(tx: EntityManager, note: AuditNote): Promise<Outcome<Done>>;
  /**
   * Whether the caller may do now what is only answered again: the rights that `work` asks for, of what became of it. Who
   * had them once and lost them would else be shown what is there, or be given a new token.
   */
  mayRepeat(tx: EntityManager, note: AuditNote, done: Done): Promise<Outcome<unknown>>;
  /** Reads what the answer shows, inside the transaction, so that a dry run shows what would be. */
  show(tx: EntityManager, done: Done, repeated: boolean): Promise<Shown>;
}

export interface Answer<Shown> {
  readonly shown?: Shown;
  readonly errors: readonly UserError[];
}

const ATTEMPTS = 3;
/** serialization_failure, deadlock_detected */
const TRY_AGAIN = new Set(['40001', '40P01']);

/** A statement of a mutation may last longer than a read: it may change thousands of rows. For a lock it waits less. */
const MUTATION_TIMES = `SELECT set_config('statement_timeout', '25s', true), set_config('lock_timeout', '10s', true)`;

/** Carries an answer out of a transaction that must not commit. */
class RolledBack extends Error {
  constructor(readonly answer: Answer<unknown>) {
    super('rolled back');
  }
}

@Injectable()
export class RunMutationService {
  constructor(
    private readonly dataSource: ApiDatabase,
    private readonly audit: AuditRepository,
    private readonly undone: RecordUndoneService,
    private readonly idempotency: IdempotencyRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async run<Done, Shown>(mutation: Mutation<Done, Shown>): Promise<Answer<Shown>> {
    const wrong = findOutOfBounds(mutation.input);
    if (wrong) {
      const target = describeTarget(mutation.input);
      return this.tellRolledBack(mutation, target === undefined ? {} : { target }, { errors: [wrong] });
    }
    for (let attempt = 1; ; attempt += 1) {
      const note: AuditNote = {};
      try {
        return await untilPartitioned(() => this.dataSource.transaction((tx) => this.runInside(tx, mutation, note)));
      } catch (error) {
        if (error instanceof RolledBack) return this.tellRolledBack(mutation, note, error.answer as Answer<Shown>);
        if (attempt < ATTEMPTS && TRY_AGAIN.has(String((error as { code?: unknown }).code))) continue;
        await this.record(mutation, note, 'FAILED', 'INTERNAL').catch(() => undefined);
        throw error;
      }
    }
  }

  private async runInside<Done, Shown>(
    tx: EntityManager,
    mutation: Mutation<Done, Shown>,
    note: AuditNote,
  ): Promise<Answer<Shown>> {
    await tx.query(MUTATION_TIMES);
    const claim = this.makeClaim(mutation);
    const claimed = claim ? await this.idempotency.claim(tx, claim) : { kind: 'FIRST' as const };
    if (claimed.kind === 'OTHER_REQUEST') {
      throw new RolledBack({ errors: [{ ...KEY_REUSED, field: ['input', 'idempotencyKey'] }] });
    }
    if (claimed.kind === 'REPEAT') {
      const done = claimed.response as Done;
      const allowed = await mutation.mayRepeat(tx, note, done);
      if (!allowed.ok) throw new RolledBack({ errors: allowed.errors });
      const shown = await mutation.show(tx, done, true);
      note.after = { repeated: true };
      await this.record(mutation, note, 'OK', null, tx);
      return { shown, errors: [] };
    }
    const outcome = await mutation.work(tx, note);
    if (!outcome.ok) throw new RolledBack({ errors: outcome.errors });
    const shown = await mutation.show(tx, outcome.value, false);
    if (mutation.input.dryRun === true) throw new RolledBack({ shown, errors: [] });
    if (claim) await this.idempotency.remember(tx, claim, outcome.value);
    await this.record(mutation, note, 'OK', null, tx);
    return { shown, errors: [] };
  }

  private async tellRolledBack<Shown>(
    mutation: MutationCall,
    note: AuditNote,
    answer: Answer<Shown>,
  ): Promise<Answer<Shown>> {
    const refusal = answer.errors[0];
    await this.record(mutation, note, refusal ? 'REFUSED' : 'DRY_RUN', refusal?.code ?? null);
    return answer;
  }

  private makeClaim(mutation: MutationCall): IdempotencyClaim | undefined {
    const { idempotencyKey, ...request } = mutation.input;
    if (typeof idempotencyKey !== 'string' || request.dryRun === true) return undefined;
    const requestHash = hashRequest(mutation.action, request);
    return {
      principal: mutation.caller.viewer.principalId,
      key: idempotencyKey,
      requestHash,
      at: new Date(this.clock.nowMs()),
    };
  }

  /** What was refused is not told: nobody has checked yet that it holds no secret, and what is there is as it was. */
  private record(
    { action, caller }: MutationCall,
    note: AuditNote,
    result: AuditResult,
    code: string | null,
    tx?: EntityManager,
  ): Promise<void> {
    const wasPossible = result === 'OK' || result === 'DRY_RUN';
    const row: NewAuditRow = {
      at: new Date(this.clock.nowMs()),
      project_id: note.projectId ?? null,
      principal: caller.viewer.name,
      action,
      target: note.target ?? null,
      before: wasPossible ? redactSecrets(note.before) : null,
      after: wasPossible ? redactSecrets(note.after) : null,
      result,
      code,
      request_id: caller.requestId,
    };
    return tx ? this.audit.append(row, tx) : this.undone.record(caller.viewer.principalId, row);
  }
}

/**
 * Equal requests hash alike however they were written: a field left out, a null, and a flag at its default `false` are
 * the same. (Compiled queries leave defaults out that interpreted ones fill in.)
 */
function hashRequest(action: string, request: object): string {
  const said = Object.entries(request).filter(([, value]) => value !== undefined && value !== null && value !== false);
  return sha256Hex(canonicalJson({ action, request: Object.fromEntries(said) as unknown }));
}

const KEY_REUSED = {
  code: 'IDEMPOTENCY_KEY_REUSED',
  message: 'This idempotency key was used for another request within the last 24 hours.',
  retryable: false,
} as const;
