/** What the Helm chart's Secret holds for the first conversation with the hub. */
import { readFile } from 'node:fs/promises';
import type { AgentConfig } from './agent-config.ts';

export interface HubFiles {
  /** PEM. */
  readonly hubCa?: string;
  readonly enrolmentToken?: string;
}

/** A file that is missing or empty is left out: after enrolment the identity Secret holds what is needed. */
export async function readHubFiles(hub: AgentConfig['hub']): Promise<HubFiles> {
  const [hubCa, enrolmentToken] = await Promise.all([read(hub?.caFile), read(hub?.enrolmentTokenFile)]);
  return { ...(hubCa && { hubCa }), ...(enrolmentToken && { enrolmentToken }) };
}

async function read(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
