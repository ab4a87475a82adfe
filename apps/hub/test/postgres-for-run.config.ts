/** One embedded PostgreSQL for a whole run of medium tests. */
import { mkdtemp, chmod, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

import { startEmbeddedPostgres } from '../src/platform/database/embedded-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresUrl: string;
  }
}

export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'atoll-medium-'));
  await chmod(folder, 0o711);
  const server = await startEmbeddedPostgres(folder, () => undefined);
  project.provide('postgresUrl', server.databaseUrl);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
