import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

const KEPT = `interval '24 hours'`;

export interface IdempotencyClaim {
  readonly principal: string;
  readonly key: string;
  readonly requestHash: string;
  readonly at: Date;
}
export type Claimed =
  | { readonly kind: 'FIRST' }
  | { readonly kind: 'OTHER_REQUEST' }
  | { readonly kind: 'REPEAT'; readonly response: unknown };

@Injectable()
export class IdempotencyRepository {
  /**
   * Takes the key for this transaction. A second request with the same key waits here until the first has committed,
   * and then reads its answer; when the first was rolled back it goes on as the first.
   */
  async claim(tx: EntityManager, claim: IdempotencyClaim): Promise<Claimed> {
    await tx.query(
      `DELETE FROM idempotency_key WHERE principal = $1 AND key = $2 AND created_at < $3::timestamptz - ${KEPT}`,
      [claim.principal, claim.key, claim.at],
    );
    const inserted: unknown[] = await tx.query(
      `INSERT INTO idempotency_key (principal, key, request_hash, response, created_at) VALUES ($1, $2, $3, 'null', $4)
       ON CONFLICT (principal, key) DO NOTHING RETURNING key`,
      [claim.principal, claim.key, claim.requestHash, claim.at],
    );
    if (inserted.length > 0) return { kind: 'FIRST' };
    const rows: { request_hash: string; response: unknown }[] = await tx.query(
      'SELECT request_hash, response FROM idempotency_key WHERE principal = $1 AND key = $2',
      [claim.principal, claim.key],
    );
    const row = rows[0];
    if (row?.request_hash !== claim.requestHash) return { kind: 'OTHER_REQUEST' };
    return { kind: 'REPEAT', response: row.response };
  }

  async remember(tx: EntityManager, claim: IdempotencyClaim, response: unknown): Promise<void> {
    await tx.query('UPDATE idempotency_key SET response = $3::jsonb WHERE principal = $1 AND key = $2', [
      claim.principal,
      claim.key,
      JSON.stringify(response),
    ]);
  }
}
