import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathExists } from '../setup/cache-folder.ts';
import { forEachLine, runCommand, tryCommand, type CommandResult } from '../setup/run-command.ts';
import { nodeAddresses } from './addresses.ts';
import { makeNodeCgroup } from './cgroups.ts';
import { clusterFolders, nodeFolder, nodeName, type ClusterSpec } from './cluster-spec.ts';
import { linkTemplate } from './image-template.ts';
import { connectNode } from './network.ts';
import { CONTAINERD_SOCKET, nodeConfiguration } from './node-configuration.ts';
import { renderPartitionRules, type CutOff, type PartitionTarget } from './partition-rules.ts';
import { Part } from './part.ts';
import { waitUntil } from './wait-until.ts';

const BOOT_TIMEOUT_MS = 60_000;
const COMMAND_TIMEOUT_MS = 120_000;

/**
 * First process of a node: tells its process id as the cluster sees it, gives the node a /proc and a /run of its
 * own, and from then on only collects ended processes. When it dies, the kernel ends every process, mount and
 * interface of the node.
 */
const INIT_SCRIPT = `read pid rest </proc/self/stat
mount -t proc proc /proc && mount -t tmpfs tmpfs /run && mkdir /run/lock &&
ip link set lo up && echo 1 >/proc/sys/net/ipv4/ip_forward && echo "ready $pid" || exit 1
while :; do sleep 3600 & wait; done`;

export interface NodeImages {
  /** Folder with the images the cluster was started with. */
  template: Promise<string>;
  /** Tars that were loaded since. */
  loaded: readonly string[];
}

/** One node, from inside the cluster's own process namespace. */
export class ClusterNode {
  readonly name: string;
  readonly #spec: ClusterSpec;
  readonly #number: number;
  readonly #containerd: Part;
  readonly #kubeParts: Part[];
  readonly #imported = new Set<string>();
  #init: ChildProcess | undefined;
  #initPid = 0;
  #partitions: PartitionTarget[] = [];

  constructor(spec: ClusterSpec, number: number) {
    this.#spec = spec;
    this.#number = number;
    this.name = nodeName(spec.name, number);
    const folder = nodeFolder(spec.index, number);
    const { root } = clusterFolders(spec.index);
    this.#containerd = this.#part('containerd', ['containerd', '--config', join(folder, 'containerd.toml')]);
    this.#kubeParts = [
      this.#part('kube-proxy', [spec.binary, 'kube-proxy', '--config', join(folder, 'kube-proxy.yaml')]),
      this.#part('kubelet', [
        spec.binary,
        'kubelet',
        `--config=${join(folder, 'kubelet.yaml')}`,
        `--kubeconfig=${join(root, `${this.name}.kubeconfig`)}`,
        `--root-dir=${join(folder, 'kubelet')}`,
        `--cert-dir=${join(folder, 'kubelet', 'pki')}`,
        `--hostname-override=${this.name}`,
        `--node-ip=${nodeAddresses(spec.index, number).ip}`,
        `--node-labels=topology.kubernetes.io/zone=zone-${number}`,
      ]),
    ];
  }

  get alive(): boolean {
    return this.#init !== undefined;
  }

  get parts(): Part[] {
    return [this.#containerd, ...this.#kubeParts];
  }

  #part(name: string, argv: string[]): Part {
    const { logs } = clusterFolders(this.#spec.index);
    const enter = () => ['nsenter', `--target=${this.#initPid}`, '--pid', '--mount', '--net', '--'];
    return new Part({
      name: `${name} of ${this.name}`,
      argv: () => [...enter(), ...argv],
      logPath: `${logs}/${this.name}-${name}.log`,
    });
  }

  /** Starts the node's machine and containerd, with all images; the node is not yet part of the cluster. */
  async boot(images: NodeImages, cutOffs: readonly CutOff[]): Promise<void> {
    await this.#writeConfiguration();
    await makeNodeCgroup(nodeAddresses(this.#spec.index, this.#number).cgroup);
    await this.#startInit();
    await connectNode(this.#spec, this.#number, this.#initPid);
    await this.applyCutOffs(cutOffs);
    await this.#fillImages(await images.template);
    await this.#containerd.start();
    await waitUntil(() => pathExists(`/proc/${this.#initPid}/root${CONTAINERD_SOCKET}`), {
      what: `containerd on ${this.name}`,
      timeoutMs: BOOT_TIMEOUT_MS,
      parts: [this.#containerd],
    });
    for (const image of images.loaded) await this.loadImage(image);
  }

  /** Starts kubelet and kube-proxy: the node joins the cluster. */
  async join(): Promise<void> {
    for (const part of this.#kubeParts) await part.start();
  }

  /** Ends every process of the node at once, as a power cut does. Its disks stay. */
  async kill(): Promise<void> {
    const init = this.#init;
    if (!init) return;
    for (const part of this.parts) part.abandon();
    const ended = new Promise((resolve) => init.once('exit', resolve));
    process.kill(this.#initPid, 'SIGKILL');
    await ended;
    for (const part of this.parts) part.resume(); // when it was paused: a stopped nsenter does not see its child's end
    await waitUntil(async () => this.parts.every((part) => !part.running), {
      what: `end of all processes of ${this.name}`,
      timeoutMs: BOOT_TIMEOUT_MS,
      parts: [],
    });
  }

  /** Stops every process of the node where it is, pods included, until resume(). */
  async pause(): Promise<void> {
    await this.#runInside(['sh', '-c', 'kill -s STOP -- -1']); // spares the node's first process and this shell
  }

  async resume(): Promise<void> {
    await this.#runInside(['sh', '-c', 'kill -s CONT -- -1']);
    for (const part of this.parts) part.resume(); // nsenter stopped itself along with its child
  }

  async partition(target: PartitionTarget, cutOffs: readonly CutOff[]): Promise<void> {
    this.#partitions.push(target);
    await this.applyCutOffs(cutOffs);
  }

  async heal(cutOffs: readonly CutOff[]): Promise<void> {
    this.#partitions = [];
    await this.applyCutOffs(cutOffs);
  }

  async applyCutOffs(cutOffs: readonly CutOff[]): Promise<void> {
    if (!this.alive) return;
    const rules = renderPartitionRules(this.#spec.index, this.#partitions, cutOffs);
    await runCommand(['nsenter', `--net=/proc/${this.#initPid}/ns/net`, 'nft', '-f', '-'], {
      input: rules,
      timeoutMs: COMMAND_TIMEOUT_MS,
    });
  }

  async loadImage(tarPath: string): Promise<void> {
    if (!this.alive || this.#imported.has(tarPath)) return;
    await this.#runInside(['ctr', '-a', CONTAINERD_SOCKET, '-n', 'k8s.io', 'images', 'import', tarPath]);
    this.#imported.add(tarPath);
  }

  /** Runs a command in the node's own namespaces, as somebody logged in on it would. */
  async exec(argv: readonly string[]): Promise<CommandResult> {
    if (!this.alive) throw new Error(`${this.name} is down`);
    const inside = ['nsenter', `--target=${this.#initPid}`, '--pid', '--mount', '--net', '--', ...argv];
    return tryCommand(inside, { timeoutMs: COMMAND_TIMEOUT_MS });
  }

  async #runInside(argv: readonly string[]): Promise<void> {
    const result = await this.exec(argv);
    if (result.exitCode !== 0) throw new Error(`${argv.join(' ')} failed on ${this.name}: ${result.stderr.trim()}`);
  }

  /** A node that was up before has its images on its disk. */
  async #fillImages(template: string): Promise<void> {
    const folder = join(nodeFolder(this.#spec.index, this.#number), 'containerd');
    if (!(await pathExists(folder))) await linkTemplate(template, folder);
  }

  async #writeConfiguration(): Promise<void> {
    const folder = nodeFolder(this.#spec.index, this.#number);
    for (const [name, text] of Object.entries(nodeConfiguration(this.#spec, this.#number))) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
  }

  async #startInit(): Promise<void> {
    const namespaces = ['--pid', '--mount', '--net', '--fork', '--kill-child'];
    const init = spawn('unshare', [...namespaces, '--', 'sh', '-c', INIT_SCRIPT], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    init.once('exit', () => {
      this.#init = undefined;
      for (const part of this.parts) part.abandon(); // also when somebody else killed it
    });
    this.#initPid = await new Promise<number>((resolve, reject) => {
      const errors: string[] = [];
      forEachLine(init.stdout, (line) => {
        const pid = /^ready (\d+)$/.exec(line)?.[1];
        if (pid !== undefined) resolve(Number(pid));
      });
      forEachLine(init.stderr, (line) => errors.push(line));
      init.once('error', reject);
      init.once('close', (code) =>
        reject(new Error(`${this.name} did not boot (exit code ${code}): ${errors.join(' ')}`)),
      );
    });
    this.#init = init;
  }
}
