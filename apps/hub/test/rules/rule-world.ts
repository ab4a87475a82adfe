/**
 * The world of the rule specs: real hubs on one real database, and member clusters with real agents that reach them
 * through a proxy that can cut, delay, fall silent and reorder. Hubs and agents can be killed and started again.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';

import { FaultProxy } from '#testing';

import type { HubConfig } from '../../src/platform/config/hub-config.ts';
import { approve, enrol, readDelivery, revise, unwant, want, type Wanted } from '../link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../start-test-hub.ts';
import { WAIT } from '../wait.ts';
import { RuleMember } from './rule-member.ts';

type HubOptions = Partial<HubConfig>;

interface HeadRow {
  readonly revision: number;
  readonly acked: number;
  readonly digest: string;
  readonly needed: boolean;
  readonly unsettled: number;
}

export class RuleWorld {
  readonly databaseUrl: string;
  readonly hubs: TestHub[] = [];
  readonly members: RuleMember[] = [];
  readonly #options: HubOptions;
  readonly #folder: string;
  readonly #killed: TestHub[] = [];
  readonly #proxies: FaultProxy[] = [];

  private constructor(databaseUrl: string, folder: string, options: HubOptions) {
    this.databaseUrl = databaseUrl;
    this.#folder = folder;
    this.#options = options;
  }

  /** With one replica, or as many as `replicas`. Members dial the first unless told otherwise. */
  static async start({
    replicas = 1,
    ...options
  }: HubOptions & { readonly replicas?: number } = {}): Promise<RuleWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'atoll-rules-'));
    const world = new RuleWorld(await createTestDatabase(), folder, options);
    for (let count = 0; count < replicas; count += 1) await world.startHub();
    return world;
  }

  get hub(): TestHub {
    const hub = this.hubs[0];
    if (hub === undefined) throw new Error('no hub runs');
    return hub;
  }

  /** One more replica; CA, certificate and database are those of the first. Members whose hub is gone dial this one. */
  async startHub(options: HubOptions = {}): Promise<TestHub> {
    const dataDir = join(this.#folder, 'hub');
    const first = this.hubs[0] ?? this.#killed[0];
    const hub = await startTestHub(this.databaseUrl, {
      dataDir: first === undefined ? dataDir : await mkdtemp(join(this.#folder, 'replica-')),
      ...(first === undefined ? {} : { tlsFiles: first.runtime.tls.files, adminTokenFile: first.ready.adminTokenFile }),
      ...this.#options,
      ...options,
    });
    this.hubs.push(hub);
    this.#tellAddresses(hub);
    if (this.hubs.length === 1) this.route(hub);
    return hub;
  }

  /** As SIGTERM: drains, then ends. */
  async stopHub(hub: TestHub = this.hub): Promise<void> {
    this.#forget(hub);
    await hub.close();
  }

  /** As SIGKILL: nothing more is written to the database, and no agent hears a farewell. */
  async killHub(hub: TestHub = this.hub): Promise<void> {
    const port = portOf(hub);
    for (const { proxy } of this.members) if (proxy.targetPort === port) for (const each of proxy.open) each.hold();
    await hub.runtime.dataSource.destroy();
    for (const { proxy } of this.members) if (proxy.targetPort === port) proxy.cut();
    await this.stopHub(hub);
  }

  /** Where members (default: all) dial from now on. */
  route(hub: TestHub, ...members: readonly RuleMember[]): void {
    for (const { proxy } of members.length > 0 ? members : this.members) proxy.pointAt('127.0.0.1', portOf(hub));
  }

  /** A member cluster whose agent was enrolled, approved and welcomed over the wire. */
  async addMember({
    run = true,
    parts = {},
  }: { run?: boolean; parts?: RuleMember['parts'] } = {}): Promise<RuleMember> {
    const { agentId, memberClusterId, token } = await enrol(this.hub);
    const projectId = await this.#makeProject();
    const proxy = await FaultProxy.start('127.0.0.1', portOf(this.hub));
    const hubCa = this.hub.runtime.tls.caCertificate;
    const member = await RuleMember.start({ hubCa, token, enrolled: { agentId, memberClusterId, projectId } }, proxy);
    member.parts = parts;
    this.members.push(member);
    for (const hub of this.hubs) this.#tellAddresses(hub);
    if (run) await this.enrolByItself(member);
    return member;
  }

  /** Runs the agent for the first time, and a person approves it. */
  async enrolByItself(member: RuleMember): Promise<void> {
    member.run();
    await this.until('PENDING_APPROVAL', async () => {
      const [row] = await this.query<{ state: string }>('SELECT state FROM agent WHERE id = $1', [member.agentId]);
      return row?.state;
    });
    await approve(this.hub, member.agentId);
    await this.untilConnected(member);
  }

  /** The hub as TestAgents reach it through a proxy: for frames that the real agent never sends, or to count them. */
  async behindProxy(hub: TestHub = this.hub): Promise<{ readonly hub: TestHub; readonly proxy: FaultProxy }> {
    const proxy = await FaultProxy.start('127.0.0.1', portOf(hub));
    this.#proxies.push(proxy);
    for (const each of this.hubs) this.#tellAddresses(each);
    return { hub: { ...hub, ready: { ...hub.ready, agentAddress: proxy.address } }, proxy };
  }

  query<T extends object>(sql: string, values: readonly unknown[] = []): Promise<T[]> {
    return this.hub.runtime.dataSource.query<T[]>(sql, [...values]);
  }

  want = (member: RuleMember, name: string, spec?: object): Promise<Wanted> =>
    want(this.hub, member.enrolled, name, spec);
  revise = (member: RuleMember, wanted: Wanted, spec: object): Promise<Wanted> =>
    revise(this.hub, member.enrolled, wanted, spec);
  unwant = (member: RuleMember, wanted: Wanted, deletion?: 'DELETE' | 'ORPHAN'): Promise<void> =>
    unwant(this.hub, member.enrolled, wanted.hubUid, deletion);

  /** `STATE CODE` of an object's delivery; GONE when the hub has forgotten it. */
  async delivery({ hubUid }: Wanted): Promise<string> {
    const row = await readDelivery(this.hub, hubUid);
    return row === undefined ? 'GONE' : [row.state, row.code].filter((part) => part !== null).join(' ');
  }

  async untilDelivery(wanted: Wanted, expected: string): Promise<void> {
    await this.until(expected, () => this.delivery(wanted));
  }

  /** Wanted, applied and acked. */
  async deliver(member: RuleMember, name: string, spec?: object): Promise<Wanted> {
    const wanted = await this.want(member, name, spec);
    await this.untilDelivery(wanted, 'APPLIED');
    return wanted;
  }

  async session(
    member: RuleMember,
  ): Promise<{ readonly sessionNo: number; readonly state: string; readonly replica: string }> {
    const rows = await this.query<{ sessionNo: number; state: string; replica: string }>(
      'SELECT session_no AS "sessionNo", state, replica FROM agent_session WHERE agent_id = $1',
      [member.agentId],
    );
    return rows[0] ?? { sessionNo: 0, state: 'NONE', replica: '' };
  }

  /** The status of an object as PostgreSQL has it. */
  async status<T extends object = { readonly phase: string }>({ hubUid }: Wanted): Promise<T | undefined> {
    const rows = await this.query<T>('SELECT * FROM resource_status WHERE hub_uid = $1', [hubUid]);
    return rows[0];
  }

  async untilConnected(member: RuleMember): Promise<void> {
    await this.until(true, () => Promise.resolve(member.isConnected));
  }

  /** Revisions and digests are equal on both sides and nothing waits. `except`: hubUids that do not count (UNCLAIMED). */
  async untilInSync(member: RuleMember, except: readonly string[] = []): Promise<void> {
    await vi.waitFor(async () => {
      const { needed, unsettled, acked, ...hub } = await this.#readHead(member);
      const agent = { revision: member.link.state().appliedRevision, digest: await member.digest(except) };
      expect({ hub, acked, needed, unsettled }).toEqual({
        hub: agent,
        acked: hub.revision,
        needed: false,
        unsettled: 0,
      });
    }, WAIT);
  }

  /** Waits for this very value. */
  async until<T>(expected: T, read: () => Promise<T>): Promise<void> {
    await vi.waitFor(async () => {
      const value = await read();
      if (JSON.stringify(value) !== JSON.stringify(expected))
        throw new Error(`waited for ${JSON.stringify(expected)}, there is ${JSON.stringify(value)}`);
    }, WAIT);
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.end()));
    for (const hub of this.hubs.splice(0).reverse()) await hub.close();
    for (const proxy of this.#proxies) await proxy.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #readHead(member: RuleMember): Promise<HeadRow> {
    const [head] = await this.query<HeadRow>(
      `SELECT revision, acked_revision AS acked, digest, inventory_needed AS needed, (SELECT count(*)::int FROM resource AS r
         JOIN delivery AS d ON d.hub_uid = r.hub_uid
         WHERE r.agent_id = $1 AND (d.state = 'PENDING' OR r.deletion IS NOT NULL)) AS unsettled
       FROM agent_spec_head WHERE agent_id = $1`,
      [member.agentId],
    );
    if (head === undefined) throw new Error('this agent has no spec head');
    return head;
  }

  async #makeProject(): Promise<string> {
    const id = crypto.randomUUID();
    await this.query('INSERT INTO project (id, name, created_at) VALUES ($1, $2, now())', [id, `project ${id}`]);
    return id;
  }

  /** Agents sign the address that they dial. */
  #tellAddresses(hub: TestHub): void {
    const own = `127.0.0.1:${portOf(hub)}`;
    const proxies = [...this.members.map(({ proxy }) => proxy), ...this.#proxies];
    hub.runtime.addresses.agents = [own, ...proxies.map((proxy) => proxy.address)];
  }

  #forget(hub: TestHub): void {
    this.hubs.splice(this.hubs.indexOf(hub), 1);
    this.#killed.push(hub);
  }
}

const portOf = (hub: TestHub): number => Number(hub.ready.agentAddress.split(':').at(-1));
