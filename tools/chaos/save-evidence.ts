import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordingProxy } from '#testing';
import type { ChaosTarget } from './inflict-fault.ts';

/** What a person needs to find out why a run went as it did. Passwords are not in it: the proxy has redacted its commands. */
export async function saveEvidence(
  folder: string,
  { cluster, namespace }: ChaosTarget,
  proxy: RecordingProxy,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const save = async (file: string, args: readonly string[]): Promise<void> => {
    const { stdout, stderr } = await cluster.kubectl(args);
    await writeFile(join(folder, file), stdout + stderr);
  };
  await save('agent.log', ['logs', '-n', 'atoll-system', 'deployment/atoll-agent', '--tail=-1']);
  await save('agent-previous.log', ['logs', '-n', 'atoll-system', 'deployment/atoll-agent', '--tail=-1', '--previous']);
  await save('events.json', ['get', 'events', '-n', namespace, '-o', 'json']);
  await save('objects.yaml', ['get', 'rediscluster,redisoperation,pods,configmaps', '-n', namespace, '-o', 'yaml']);
  const { stdout } = await cluster.kubectl(['get', 'pods', '-n', namespace, '-o', 'name']);
  for (const pod of stdout.trim().split('\n').filter(Boolean)) {
    const name = pod.slice(pod.indexOf('/') + 1);
    await save(`${name}.log`, ['logs', '-n', namespace, name, '--all-containers', '--timestamps', '--tail=-1']);
  }
  const lines = proxy.commands.map((command) => JSON.stringify({ ...command, timeOriginMs: performance.timeOrigin }));
  await writeFile(join(folder, 'commands.jsonl'), `${lines.join('\n')}\n`);
}
