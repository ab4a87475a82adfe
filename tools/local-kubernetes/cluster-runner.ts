import { ClusterNode, type NodeImages } from './cluster-node.ts';
import type { ClusterSpec } from './cluster-spec.ts';
import type { ControlCall } from './control-protocol.ts';
import { ControlPlane } from './control-plane.ts';
import { ensureImageTemplate } from './image-template.ts';
import { addBridge, routeServicesThrough } from './network.ts';
import type { CutOff } from './partition-rules.ts';

/** A whole cluster, from inside its own process namespace: does what it is called to do, and says how far it is. */
export class ClusterRunner {
  readonly #spec: ClusterSpec;
  readonly #controlPlane: ControlPlane;
  readonly #nodes: ClusterNode[];
  readonly #template: Promise<string>;
  readonly #loaded: string[] = [];
  readonly #startedAt = performance.now();
  #cutOffs: CutOff[] = [];

  constructor(spec: ClusterSpec) {
    this.#spec = spec;
    this.#controlPlane = new ControlPlane(spec);
    this.#nodes = Array.from({ length: spec.nodes }, (_, i) => new ClusterNode(spec, i + 1));
    this.#template = ensureImageTemplate([spec.pauseImage, ...spec.images]);
    this.#template.catch(() => {}); // told by each node that needs it
  }

  async handle(call: ControlCall, log: (line: string) => void): Promise<unknown> {
    switch (call.call) {
      case 'start':
        return this.#start(log);
      case 'ready':
        return this.#ready();
      case 'loadImage':
        return this.#loadImage(call.tarPath);
      case 'node':
        return this.#changeNode(call.node, call.verb);
      case 'partition':
        return this.#node(call.node).partition(call.from, this.#cutOffs);
      case 'nodeExec':
        return this.#node(call.node).exec(call.argv);
      case 'apiServer':
        return this.#changeApiServer(call.verb);
      case 'cutOff':
        return this.#cutOff(call.from);
      case 'exit':
        setImmediate(() => process.exit(0)); // after the reply
        return undefined;
    }
  }

  async #start(log: (line: string) => void): Promise<void> {
    const say = (line: string) => log(`${line} (${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s)`);
    await this.#controlPlane.prepare();
    await addBridge(this.#spec.index);
    const booted = Promise.all(this.#nodes.map((node) => node.boot(this.#images, this.#cutOffs)));
    booted.catch(() => {}); // told below, after the control plane's own failure if it has one
    await this.#controlPlane.start();
    say('API server ready');
    await booted;
    await Promise.all(this.#nodes.map((node) => node.join()));
    await routeServicesThrough(this.#spec, 1);
    await this.#ready();
    say(`${this.#nodes.map((node) => node.name).join(', ')} Ready`);
  }

  async #ready(): Promise<void> {
    const living = this.#nodes.filter((node) => node.alive);
    const parts = living.flatMap((node) => node.parts);
    return this.#controlPlane.ready(
      living.map((node) => node.name),
      parts,
    );
  }

  get #images(): NodeImages {
    return { template: this.#template, loaded: this.#loaded };
  }

  #node(number: number): ClusterNode {
    const node = this.#nodes[number - 1];
    if (!node) throw new Error(`${this.#spec.name} has nodes 1 to ${this.#nodes.length}, no node ${number}`);
    return node;
  }

  async #changeNode(number: number, verb: 'kill' | 'start' | 'pause' | 'resume' | 'heal'): Promise<void> {
    const node = this.#node(number);
    if (verb === 'heal') return node.heal(this.#cutOffs);
    if (verb === 'pause' || verb === 'resume') return node[verb]();
    if (verb === 'kill') await node.kill();
    else if (!node.alive) {
      await node.boot(this.#images, this.#cutOffs);
      await node.join();
    }
    const living = this.#nodes.findIndex((candidate) => candidate.alive);
    if (living >= 0) await routeServicesThrough(this.#spec, living + 1);
  }

  async #changeApiServer(verb: 'kill' | 'start' | 'pause' | 'resume'): Promise<void> {
    const part = this.#controlPlane.part('kube-apiserver');
    if (verb === 'kill') return part.kill();
    if (verb === 'pause') return part.pause();
    part.resume();
    await part.start();
    await this.#controlPlane.apiServerReady();
  }

  async #loadImage(tarPath: string): Promise<void> {
    if (!this.#loaded.includes(tarPath)) this.#loaded.push(tarPath);
    await Promise.all(this.#nodes.map((node) => node.loadImage(tarPath)));
  }

  async #cutOff(from: CutOff | undefined): Promise<void> {
    this.#cutOffs = from ? [...this.#cutOffs, from] : [];
    await Promise.all(this.#nodes.map((node) => node.applyCutOffs(this.#cutOffs)));
  }
}
