/**
 * What an agent has around it: a member cluster over TLS, and a hub over TLS that it is enrolled at and reports to, as nearly
 * every agent is. One after another, agents of this world find what the last one left.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeHub } from '#testing';
import { AgentProcess } from './agent-process.ts';
import { ScriptedMember } from './scripted-member.ts';

export class AgentWorld {
  readonly member: ScriptedMember;
  readonly #hub: FakeHub;
  readonly #folder: string;
  readonly #kubeconfig: string;
  readonly #port: number;

  private constructor(
    member: ScriptedMember,
    hub: FakeHub,
    place: { folder: string; kubeconfig: string; port: number },
  ) {
    this.member = member;
    this.#hub = hub;
    this.#folder = place.folder;
    this.#kubeconfig = place.kubeconfig;
    this.#port = place.port;
  }

  /** `serverArgv` starts a redis-server; agents answer for their health at `port`. */
  static async start(serverArgv: readonly string[], port: number): Promise<AgentWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'atoll-agent-world-'));
    const [member, hub] = [await ScriptedMember.start(serverArgv), await FakeHub.start()];
    await writeFile(join(folder, 'hub-ca.pem'), hub.certificates.caPem);
    await writeFile(join(folder, 'token'), 'bench-enrolment-token');
    return new AgentWorld(member, hub, { folder, kubeconfig: await member.writeKubeconfig(), port });
  }

  startAgent(): AgentProcess {
    return new AgentProcess(this.#kubeconfig, this.#port, join(this.#folder, 'agent.log'), {
      ATOLL_HUB_ADDRESS: this.#hub.address,
      ATOLL_HUB_CA_FILE: join(this.#folder, 'hub-ca.pem'),
      ATOLL_ENROLMENT_TOKEN_FILE: join(this.#folder, 'token'),
    });
  }

  /** Sessions that the hub has welcomed so far. */
  get hubSessions(): number {
    return this.#hub.sessions.length;
  }

  async stop(): Promise<void> {
    await this.member.stop();
    await this.#hub.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
