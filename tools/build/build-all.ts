import { runCommand } from '../setup/run-command.ts';
import { buildAgent } from './build-agent.ts';

/** What the hub is made of: nest builds one project at a time and does not follow imports. */
const NEST_PROJECTS = ['domain', 'protocol', 'migrations', 'hub'];

/** Compiles the hub with its libraries into dist/. A few seconds. */
export async function buildHub(): Promise<void> {
  for (const project of NEST_PROJECTS) await runCommand(['nest', 'build', project]);
}

/** The hub, and the agent in dist/agent/agent.cjs. */
export async function buildAll(): Promise<void> {
  await buildAgent();
  await buildHub();
}
