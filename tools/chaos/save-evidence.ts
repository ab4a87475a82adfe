/**
 * What a person needs to find out why a run went as it did: the log of every container that ever ran, since most pods of
 * a chaos run are gone at its end, and the objects, events and the agent's commands. Passwords are not in it: the proxy
 * has redacted its commands, and neither Redis nor Sentinel logs them.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordingProxy } from '#testing';
import type { ChaosTarget } from './inflict-fault.ts';

const LOOK_MS = 1_000;
const NAMES = ['get', 'pods', '-o', 'jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\\n"}{end}'];

export class Evidence {
  readonly #folder: string;
  readonly #target: ChaosTarget;
  readonly #following = new Set<string>();
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;

  private constructor(folder: string, target: ChaosTarget) {
    this.#folder = folder;
    this.#target = target;
    this.#watching = this.#watch();
  }

  static async start(folder: string, target: ChaosTarget): Promise<Evidence> {
    await mkdir(folder, { recursive: true });
    return new Evidence(folder, target);
  }

  async finish(proxy: RecordingProxy): Promise<void> {
    this.#stop.abort();
    await this.#watching;
    const { namespace } = this.#target;
    for (const [pod] of await this.#listPods(namespace)) await this.#keepLog(namespace, pod, pod, false);
    for (const [pod] of await this.#listPods('atoll-system')) await this.#keepLog('atoll-system', pod, pod, false);
    await this.#save('events.json', ['get', 'events', '-n', namespace, '-o', 'json']);
    const kinds = 'rediscluster,redisoperation,pods,configmaps';
    await this.#save('objects.yaml', ['get', kinds, '-n', namespace, '-o', 'yaml']);
    const lines = proxy.commands.map(({ atMs, ...command }) =>
      JSON.stringify({ at: new Date(performance.timeOrigin + atMs).toISOString(), ...command }),
    );
    await writeFile(join(this.#folder, 'commands.jsonl'), `${lines.join('\n')}\n`);
  }

  /** Each pod's log is followed from its start to its end; of one that lives at the end `finish` takes it. */
  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      for (const namespace of [this.#target.namespace, 'atoll-system']) {
        for (const [pod, uid] of await this.#listPods(namespace)) this.#follow(namespace, pod, uid);
      }
      await sleep(LOOK_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  #follow(namespace: string, pod: string, uid: string): void {
    if (this.#following.has(uid)) return;
    this.#following.add(uid);
    void this.#keepLog(namespace, pod, `${pod}-${uid.slice(0, 8)}`, true).then((length) => {
      // Its container has not started yet.
      if (length === 0) this.#following.delete(uid);
    });
  }

  async #keepLog(namespace: string, pod: string, name: string, follow: boolean): Promise<number> {
    const args = ['logs', '-n', namespace, pod, '--all-containers', '--timestamps', '--tail=-1'];
    const { stdout } = await this.#target.cluster.kubectl(follow ? [...args, '-f'] : args);
    if (stdout !== '') await writeFile(join(this.#folder, `${name}.log`), stdout);
    return stdout.length;
  }

  async #listPods(namespace: string): Promise<[string, string][]> {
    const { stdout } = await this.#target.cluster.kubectl([...NAMES, '-n', namespace]);
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line): [string, string] => [line.split(' ')[0] ?? '', line.split(' ')[1] ?? '']);
  }

  async #save(file: string, args: readonly string[]): Promise<void> {
    const { stdout, stderr } = await this.#target.cluster.kubectl(args);
    await writeFile(join(this.#folder, file), stdout + stderr);
  }
}
