/**
 * In whose name the code that runs now asks the database: a principal of the API, or the hub itself. The pool of the API
 * reads it where a connection is taken, so that no repository has to pass it on, and none can forget it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Background work of the hub, such as the reader of the log of changes. */
export const HUB_ITSELF = 'hub';

const owners = new AsyncLocalStorage<string>();

export const jobOwner = (): string => owners.getStore() ?? HUB_ITSELF;

/** Everything that `work` asks the database for, now and later, is asked in the name of `owner`. */
export const asJobOwner = <T>(owner: string, work: () => T): T =>
  owners.getStore() === owner ? work() : owners.run(owner, work);
