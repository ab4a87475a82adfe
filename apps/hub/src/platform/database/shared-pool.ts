/** A pool of connections that its users share by the rule of job-line.ts: each connection that is taken is one job. */
import pg from 'pg';

import { JobLine, type JobLimits } from './job-line.ts';
import { jobOwner } from './job-owner.ts';

type Callback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** What TypeORM takes as its driver: pg, with this pool in the place of pg's. */
export function shareConnections(limits: JobLimits): typeof pg {
  const line = new JobLine(limits);
  class SharedPool extends pg.Pool {
    readonly #leave = new WeakMap<object, () => void>();

    constructor(config?: pg.PoolConfig) {
      super(config);
      this.on('release', (_error: Error, client: pg.PoolClient) => this.#leave.get(client)?.());
    }

    override connect(): Promise<pg.PoolClient>;
    override connect(callback: Callback): void;
    override connect(callback?: Callback): Promise<pg.PoolClient> | void {
      if (callback) return this.#take(callback);
      return new Promise((done, failed) => {
        this.#take((error, client) => (client ? done(client) : failed(error ?? new Error('no connection'))));
      });
    }

    #take(callback: Callback): void {
      line.enter(jobOwner(), (refused, leave) => {
        if (refused) return callback(refused, undefined, () => undefined);
        super.connect((error, client, done) => {
          if (error || !client) leave();
          else this.#leave.set(client, leave);
          callback(error, client, done);
        });
      });
    }
  }
  return { ...pg, Pool: SharedPool };
}
