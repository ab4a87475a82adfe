/**
 * Lets a write say what should happen once its transaction has committed, without its caller's help. What is asked for
 * under one key inside one transaction happens once. Nothing happens on rollback. It is a hint only: a process that dies
 * between commit and hint loses it, so each user of this has a poll behind it.
 */
import type { DataSource, EntityManager, EntitySubscriberInterface } from 'typeorm';

type Hints = Map<string, () => void>;
const HINTS = Symbol('after commit');

/** Run `hint` after the commit of the transaction that `tx` belongs to; at once when there is none. */
export function afterCommit(tx: EntityManager, key: string, hint: () => void): void {
  const runner = tx.queryRunner;
  if (!runner?.isTransactionActive) {
    hint();
    return;
  }
  const data = runner.data as { [HINTS]?: Hints };
  (data[HINTS] ??= new Map()).set(key, hint);
}

/** Added to the data source once, at start. */
export function runHintsAfterCommit(dataSource: DataSource): void {
  const subscriber: EntitySubscriberInterface = {
    afterTransactionCommit: ({ queryRunner }) => {
      const data = queryRunner.data as { [HINTS]?: Hints };
      const hints = data[HINTS];
      if (!hints || queryRunner.isTransactionActive) return;
      delete data[HINTS];
      for (const hint of hints.values()) hint();
    },
    afterTransactionRollback: ({ queryRunner }) => {
      if (!queryRunner.isTransactionActive) delete (queryRunner.data as { [HINTS]?: Hints })[HINTS];
    },
  };
  dataSource.subscribers.push(subscriber);
}
