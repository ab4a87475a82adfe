import { dirname, join } from 'node:path';
import { runCommand, tryCommand, type CommandResult } from '../setup/run-command.ts';
import { clusterAddresses } from './addresses.ts';
import { clusterFolders, nodeName, type ClusterSpec } from './cluster-spec.ts';
import type { ControlChannel } from './control-channel.ts';
import type { PartitionTarget } from './partition-rules.ts';

export interface KubectlOptions {
  /** Given to kubectl on stdin, as for `apply -f -`. */
  input?: string;
  timeoutMs?: number;
}

const KUBECTL_TIMEOUT_MS = 60_000;

/** A running cluster, as demo, tests and benchmarks handle it. All methods reject after a deadline. */
export class LocalCluster {
  readonly name: string;
  readonly index: number;
  readonly nodeCount: number;
  readonly kubeconfigPath: string;
  readonly apiServerUrl: string;
  /** Address under which pods reach this machine, e.g. the hub. */
  readonly hostAddress: string;
  readonly apiServer: LocalApiServer;
  readonly #spec: ClusterSpec;
  readonly #channel: ControlChannel;

  constructor(spec: ClusterSpec, channel: ControlChannel) {
    const addresses = clusterAddresses(spec.index);
    this.name = spec.name;
    this.index = spec.index;
    this.nodeCount = spec.nodes;
    this.kubeconfigPath = clusterFolders(spec.index).kubeconfig;
    this.apiServerUrl = addresses.apiServerUrl;
    this.hostAddress = addresses.host;
    this.apiServer = new LocalApiServer(channel);
    this.#spec = spec;
    this.#channel = channel;
  }

  /** The program, for commands that are to run as a person types them. */
  get kubectlPath(): string {
    return join(dirname(this.#spec.binary), 'kubectl');
  }

  /** Folder of the logs of all parts, one file a part. */
  get logFolder(): string {
    return clusterFolders(this.index).logs;
  }

  /** The node of this number, counted from 1. */
  node(number: number): LocalNode {
    if (!Number.isInteger(number) || number < 1 || number > this.nodeCount) {
      throw new Error(`${this.name} has nodes 1 to ${this.nodeCount}, no node ${number}`);
    }
    return new LocalNode(this.name, number, this.#channel);
  }

  /** Makes the image of an OCI tar known on every node, on nodes that are down when they start. */
  async loadImage(tarPath: string): Promise<void> {
    await this.#channel.call({ call: 'loadImage', tarPath });
  }

  /** Resolves when all nodes that are up are Ready and pods can be made. */
  async ready(): Promise<void> {
    await this.#channel.call({ call: 'ready' });
  }

  /** From now on no packet passes between any node, its pods included, and this TCP address: it just falls silent. */
  async cutOff(address: string, port: number): Promise<void> {
    await this.#channel.call({ call: 'cutOff', from: { address, port } });
  }

  /** Undoes every cutOff(). */
  async restore(): Promise<void> {
    await this.#channel.call({ call: 'cutOff' });
  }

  /** Runs kubectl as the administrator; a failing command is a result, not an error. */
  async kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<CommandResult> {
    return tryCommand(this.#kubectlArgv(args), { timeoutMs: KUBECTL_TIMEOUT_MS, ...options });
  }

  /** Runs a command in a container; a failing command is a result, not an error. */
  async exec(namespace: string, pod: string, container: string, command: readonly string[]): Promise<CommandResult> {
    return this.kubectl(['exec', '--namespace', namespace, pod, '--container', container, '--', ...command]);
  }

  /** All a container has logged since its start. */
  async logs(namespace: string, pod: string, container: string): Promise<string> {
    const argv = this.#kubectlArgv(['logs', '--namespace', namespace, pod, '--container', container]);
    return runCommand(argv, { timeoutMs: KUBECTL_TIMEOUT_MS });
  }

  /** For the owner of the cluster's life: starts it. Others get clusters that run. */
  async boot(timeoutMs: number): Promise<void> {
    await this.#channel.call({ call: 'start' }, timeoutMs);
  }

  disconnect(): void {
    this.#channel.close();
  }

  #kubectlArgv(args: readonly string[]): string[] {
    const cache = join(clusterFolders(this.index).root, 'kubectl-cache');
    return [this.#spec.binary, 'kubectl', `--kubeconfig=${this.kubeconfigPath}`, `--cache-dir=${cache}`, ...args];
  }
}

export class LocalNode {
  /** The Node object's name. */
  readonly name: string;
  readonly #number: number;
  readonly #channel: ControlChannel;

  constructor(clusterName: string, number: number, channel: ControlChannel) {
    this.name = nodeName(clusterName, number);
    this.#number = number;
    this.#channel = channel;
  }

  /** A power cut: every process of the node ends at once, its disks stay. */
  async kill(): Promise<void> {
    await this.#change('kill');
  }

  /** Starts a node that was killed; resolves when its kubelet runs, before the node is Ready. */
  async start(): Promise<void> {
    await this.#change('start');
  }

  /** Stops all processes of the node, pods included, where they are. */
  async pause(): Promise<void> {
    await this.#change('pause');
  }

  async resume(): Promise<void> {
    await this.#change('resume');
  }

  /** From now on no packet passes between this node, its pods included, and the other side. Partitions add up. */
  async partition(from: PartitionTarget): Promise<void> {
    await this.#channel.call({ call: 'partition', node: this.#number, from });
  }

  /** Undoes every partition() of this node. */
  async heal(): Promise<void> {
    await this.#change('heal');
  }

  /** Runs a command on the node, as root; a failing command is a result, not an error. */
  async exec(argv: readonly string[]): Promise<CommandResult> {
    return (await this.#channel.call({ call: 'nodeExec', node: this.#number, argv: [...argv] })) as CommandResult;
  }

  async #change(verb: 'kill' | 'start' | 'pause' | 'resume' | 'heal'): Promise<void> {
    await this.#channel.call({ call: 'node', node: this.#number, verb });
  }
}

export class LocalApiServer {
  readonly #channel: ControlChannel;

  constructor(channel: ControlChannel) {
    this.#channel = channel;
  }

  async kill(): Promise<void> {
    await this.#channel.call({ call: 'apiServer', verb: 'kill' });
  }

  /** Starts it when it was killed, goes on when it was paused; resolves when it is ready. */
  async start(): Promise<void> {
    await this.#channel.call({ call: 'apiServer', verb: 'start' });
  }

  /** Stops it where it is: connections stay open, and nothing is answered. */
  async pause(): Promise<void> {
    await this.#channel.call({ call: 'apiServer', verb: 'pause' });
  }

  async resume(): Promise<void> {
    await this.#channel.call({ call: 'apiServer', verb: 'resume' });
  }
}
