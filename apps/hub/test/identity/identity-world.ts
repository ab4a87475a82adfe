/**
 * A real Link with a real hub: the link's member cluster is a fake API server, its clock and its fence are the test's. What the
 * hub knows of the agent's keys, and what the agent keeps of them, can be read.
 */
import { AGENT_IDENTITY_SECRET } from '#domain';
import type { Clock } from '#domain';
import { RESOURCE } from '#kube';
import { publicKeyOf } from '#protocol';
import { LinkWorld, until } from '#testing';

import { Link } from '../../../agent/src/link/index.ts';
import type { LinkSettings } from '../../../agent/src/link/index.ts';
import { approve, enrol } from '../link-fixture.ts';
import type { TestHub } from '../start-test-hub.ts';

const DAY_MS = 24 * 3600_000;

export interface KnownKeys {
  readonly current: string | null;
  readonly previous: string | null;
}

export class IdentityWorld {
  readonly kube: LinkWorld;
  readonly agentId: string;
  readonly memberClusterId: string;
  readonly logged: string[] = [];
  readonly #settings: LinkSettings;
  #aheadMs = 0;
  /** Of this process: another one in the same cluster has its own. */
  holdsLease = true;
  link: Link;

  private constructor(
    kube: LinkWorld,
    ids: { readonly agentId: string; readonly memberClusterId: string },
    settings: LinkSettings,
  ) {
    this.kube = kube;
    this.agentId = ids.agentId;
    this.memberClusterId = ids.memberClusterId;
    this.#settings = settings;
    this.link = this.run();
  }

  /** The same Secret and the same settings in another place, or twice in one: its process is another one. */
  static async copyOf(original: IdentityWorld, place: 'SAME_CLUSTER' | 'OTHER_CLUSTER'): Promise<IdentityWorld> {
    if (place === 'SAME_CLUSTER') return original.#copyIn(original.kube);
    const kube = await LinkWorld.start();
    const at = { namespace: 'atoll-system', name: AGENT_IDENTITY_SECRET };
    const { apiVersion, kind, data } = await original.kube.client.get(RESOURCE.secret, at);
    await kube.client.create({ apiVersion, kind, metadata: at, data });
    return original.#copyIn(kube);
  }

  #copyIn(kube: LinkWorld): IdentityWorld {
    return new IdentityWorld(kube, this, { ...this.#settings, instanceId: 'copy' });
  }

  /** Enrolled, approved, and in its first session. */
  static async start(hub: TestHub): Promise<IdentityWorld> {
    const { token, caCertificate, ...ids } = await enrol(hub);
    const kube = await LinkWorld.start();
    const world = new IdentityWorld(kube, ids, {
      ...kube.settings(),
      hubAddress: hub.ready.agentAddress,
      hubCa: caCertificate,
      enrolmentToken: token,
    });
    const { dataSource } = hub.runtime;
    await until('it enrolled', async () => {
      const rows = await dataSource.query<unknown[]>(
        `SELECT 1 FROM agent WHERE id = $1 AND state = 'PENDING_APPROVAL'`,
        [ids.agentId],
      );
      return rows.length === 1;
    });
    await approve(hub, ids.agentId);
    await world.untilConnected();
    return world;
  }

  /** A new process of the agent, with what the API server keeps. */
  run(changes: Partial<LinkSettings> = {}): Link {
    const clock: Clock = { nowMs: () => Date.now() + this.#aheadMs, monotonicMs: () => performance.now() };
    const parts = {
      ...this.kube.parts(),
      clock,
      fence: () => this.holdsLease && this.kube.fence,
      lookAtIdentityEveryMs: 50,
      log: (_: string, message: string, fields?: object) =>
        void this.logged.push(`${message} ${JSON.stringify(fields ?? {})}`),
    };
    this.link = this.kube.run(new Link({ ...this.#settings, ...changes }, parts));
    return this.link;
  }

  /** The CAs that the hub knows this agent to trust. */
  async casAtHub(hub: TestHub): Promise<readonly string[]> {
    const rows = await hub.runtime.dataSource.query<{ capabilities: readonly string[] }[]>(
      'SELECT capabilities FROM agent WHERE id = $1',
      [this.agentId],
    );
    return (rows[0]?.capabilities ?? []).filter((one) => one.startsWith('hubCa:'));
  }

  jump(days: number): void {
    this.#aheadMs += days * DAY_MS;
  }

  untilConnected(): Promise<void> {
    return until('the agent is connected', () => this.link.state().connected, 10_000);
  }

  /** One accepted key on both sides, and not this one. */
  untilRotatedFrom(hub: TestHub, old: string | null): Promise<void> {
    return until('the key is another one, alone, on both sides', async () => {
      const { current, previous } = await this.keysAtHub(hub);
      const { 'private-key': own, 'next-private-key': next } = await this.secret();
      const isSettled = next === undefined && previous === null && own !== undefined && publicKeyOf(own) === current;
      return isSettled && current !== old && this.link.state().connected;
    });
  }

  async keysAtHub(hub: TestHub): Promise<KnownKeys> {
    const rows = await hub.runtime.dataSource.query<{ current: Buffer | null; previous: Buffer | null }[]>(
      'SELECT public_key AS current, previous_public_key AS previous FROM agent WHERE id = $1',
      [this.agentId],
    );
    const text = (key: Buffer | null | undefined): string | null => key?.toString('base64url') ?? null;
    return { current: text(rows[0]?.current), previous: text(rows[0]?.previous) };
  }

  /** What the identity Secret holds. */
  async secret(): Promise<Readonly<Record<string, string>>> {
    const at = { namespace: 'atoll-system', name: AGENT_IDENTITY_SECRET };
    const data = (await this.kube.client.get(RESOURCE.secret, at))['data'] as Readonly<Record<string, string>>;
    return Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
    );
  }

  /** Writes of the identity Secret are refused, or made without an answer. */
  hurtSecret(times: number, act: { kind: 'status'; code: number; reason: string } | { kind: 'drop-after' }): void {
    this.kube.kube.inject({
      when: ({ method, path }) => method === 'PATCH' && path.endsWith(`/secrets/${AGENT_IDENTITY_SECRET}`),
      act,
      times,
    });
  }

  stop(): Promise<void> {
    return this.kube.stop();
  }
}
