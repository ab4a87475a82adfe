/**
 * One seeded life of hub, agent and member cluster: people create, change and delete, frames arrive or are lost, either
 * side dies between any two steps, backups are put back. After every step the book (machine-ledger) must be without a
 * violation; at the end everything is healed and must come to rest, in step, within a bound.
 */
import type { Delta, DesiredAck } from '#protocol';
import { makeRandom } from '#testing';
import type { SeededRandom } from '#testing';
import { describeFrame } from './describe-frame.ts';
import { MachineAgent } from './machine-agent.ts';
import type { HubFacts, MachineConnection, MachineHub } from './machine-hub.ts';
import { MachineLedger } from './machine-ledger.ts';
import { MachineMember } from './machine-member.ts';
import type { MachineTimers } from './machine-timers.ts';
import type { MachineUser } from './machine-user.ts';

const MOST_ZOMBIES = 2;
/** Each is five minutes; three deletes fit one. */
const MOST_ROUNDS = 40;
const MOST_FRAMES = 100;

export class MachineRun {
  readonly seed: number;
  readonly random: SeededRandom;
  readonly steps: string[] = [];
  readonly hub: MachineHub;
  readonly member: MachineMember;
  readonly ledger: MachineLedger;
  readonly user: MachineUser;
  agent: MachineAgent;
  connection: MachineConnection | undefined;
  /** Connections that only the hub takes for alive, with frames that arrive late. */
  readonly zombies: MachineConnection[] = [];
  readonly #timers: MachineTimers;
  #offsetMs = 0;
  #applied = { epoch: '', revision: 0, agent: '' };
  snapshotSeen = false;
  #acked = false;

  constructor(seed: number, makeHub: (facts: HubFacts) => MachineHub, user: MachineUser, timers: MachineTimers) {
    this.seed = seed;
    this.random = makeRandom(seed);
    this.hub = makeHub({
      nowMs: () => this.clock.nowMs(),
      isApproved: (hubUid) => this.ledger.objects.get(hubUid)?.approved === true,
    });
    this.user = user;
    this.#timers = timers;
    this.ledger = new MachineLedger(
      () => this.clock.nowMs(),
      (hubUid) => this.member.remembers(hubUid),
    );
    this.member = new MachineMember({
      wrote: (event, writer) => this.ledger.observe(event, writer),
      putBack: (live) => this.ledger.putBack(live),
    });
    this.agent = new MachineAgent(this.member, this.clock);
  }

  readonly clock = {
    nowMs: (): number => Date.now() + this.#offsetMs,
    monotonicMs: (): number => performance.now() + this.#offsetMs,
  };

  note(text: string): void {
    this.steps.push(text);
  }

  /** After each step: nothing is under way, and what must never happen has not happened. */
  async check(): Promise<void> {
    await this.hub.settled();
    await this.agent.settled();
    if (this.hub.failure !== undefined) throw new Error('the hub failed', { cause: this.hub.failure });
    if (this.#acked) await this.user.noteGone(this.ledger);
    this.#acked = false;
    const { hubEpoch = '', appliedRevision } = this.agent.state;
    const before = this.#applied;
    const isSameLife = before.epoch === hubEpoch && before.agent === this.agent.instanceId && !this.snapshotSeen;
    if (isSameLife && appliedRevision < before.revision)
      this.ledger.violations.push(`the applied revision fell from ${before.revision} to ${appliedRevision}`);
    this.#applied = { epoch: hubEpoch, revision: appliedRevision, agent: this.agent.instanceId };
    this.snapshotSeen = false;
    this.ledger.violations.push(...this.hub.takeViolations());
    if (this.ledger.violations.length > 0) throw new Error(this.ledger.violations.join('\n'));
  }

  async connect(): Promise<void> {
    if (this.connection !== undefined) {
      // The hub does not know yet that the old one is dead; what is in it may still arrive.
      this.agent.leave();
      this.zombies.push(this.connection);
      if (this.zombies.length > MOST_ZOMBIES) await this.buryZombie();
    }
    const hello = this.agent.hello(this.hub.agentId);
    this.ledger.newSession();
    const hinted = this.random.chance(0.3);
    if (hinted) this.ledger.seen.overtaken += 1;
    this.connection = await this.hub.connect(hello, hinted);
    this.note(`  Hello ${hello.appliedRevision} ${hello.specDigest.slice(0, 6)} ${hello.inventory}`);
  }

  async cut(): Promise<void> {
    this.agent.leave();
    const { connection } = this;
    this.connection = undefined;
    if (connection !== undefined) await this.hub.close(connection);
  }

  async buryZombie(): Promise<void> {
    const zombie = this.zombies.shift();
    if (zombie !== undefined) await this.hub.close(zombie);
  }

  /** The agent gets the next frame. False when there is none, or none can be worked off. */
  async deliverToAgent(twice = false): Promise<string | false> {
    const { connection } = this;
    if (connection === undefined || !this.member.synced) return false;
    const frame = connection.toAgent.shift();
    if (frame === undefined) return false;
    this.snapshotSeen ||= frame.type === 'SnapshotEnd';
    if (frame.type === 'Reconnect') await this.cut();
    else await this.#give(frame, connection);
    if (twice && frame.type === 'Delta') await this.#give(frame, connection);
    await this.#follow();
    return describeFrame(frame);
  }

  /** A process that died is started again; a session that failed is over. */
  async #follow(): Promise<void> {
    if (this.agent.isDead) await this.reviveAgent();
    else if (this.agent.failure !== undefined) await this.cut();
  }

  #give(frame: MachineConnection['toAgent'][number], connection: MachineConnection): Promise<void> {
    if (frame.type === 'Delta' || frame.type === 'SnapshotEnd') this.#noteMass(frame.payload.tombstones);
    return this.agent.receive(frame, (message) => {
      if (['DesiredAck', 'InventoryChunk', 'Heartbeat'].includes(message.type)) connection.toHub.push(message);
    });
  }

  #noteMass(tombstones: Delta['tombstones']): void {
    const bare = tombstones.filter(({ operation, approval }) => operation === 'DELETE' && approval === undefined);
    for (const { hubUid, approval } of tombstones) this.ledger.toldApproval(hubUid, approval?.id);
    const hubUids = bare.map(({ hubUid }) => hubUid);
    this.ledger.told(hubUids.filter((hubUid) => !this.member.remembers(hubUid)));
  }

  async deliverToHub(connection = this.connection, twice = false): Promise<string | false> {
    const frame = connection?.toHub.shift();
    if (connection === undefined || frame === undefined) return false;
    await this.#take(connection, frame);
    if (frame.type === 'DesiredAck') {
      if (twice) await this.hub.take(connection, frame);
      this.#noteAck(frame.payload);
    }
    if (!connection.open && connection === this.connection) await this.cut();
    return describeFrame(frame);
  }

  /** Of a session that another has taken over: nothing of it counts any more. */
  async #take(connection: MachineConnection, frame: MachineConnection['toHub'][number]): Promise<void> {
    if (connection === this.connection || frame.type === 'Heartbeat') return this.hub.take(connection, frame);
    this.ledger.seen.lateAck += 1;
    const before = JSON.stringify(await this.user.look());
    await this.hub.take(connection, frame);
    if (JSON.stringify(await this.user.look()) === before) return;
    this.ledger.violations.push('a frame of an earlier session changed what the hub has booked');
  }

  /** The agent tells the status of all that it sees. False when nobody hears it. */
  async tellStatus(): Promise<boolean> {
    if (this.connection === undefined || !this.member.synced) return false;
    await this.hub.takeStatus(this.connection, this.member.cache.list());
    return true;
  }

  #noteAck({ outcomes }: DesiredAck): void {
    this.#acked = true;
    const codes = outcomes.map(({ code }) => code);
    if (codes.includes('DELETE_BREAKER')) this.ledger.seen.refusedDelete += 1;
    if (codes.includes('DELETED_OBJECT_IS_BACK')) this.ledger.seen.putBack += 1;
    for (const { hubUid, code } of outcomes) if (code === 'DELETED_OBJECT_IS_BACK') this.ledger.kept(hubUid);
  }

  /** False when there is no dump. `noticed`: the hub knows that it is one of before. */
  async restoreHub(noticed: boolean): Promise<boolean> {
    while (this.zombies.length > 0) await this.buryZombie();
    if (!(await this.hub.restore(noticed))) return false;
    if (noticed) {
      const pending = (await this.user.rows()).filter((row) => row.deletion === 'DELETE');
      this.ledger.restored(pending.map((row) => row.hubUid));
    }
    // What nobody noticed nobody can say again; an agent that is ahead makes it wait all the same.
    else for (const wish of this.ledger.objects.values()) delete wish.mustBeSaidAgain;
    this.ledger.hubRestored = true;
    this.ledger.forgetNames();
    await this.cut();
    return true;
  }

  /** A new process reads what the old one left in the cluster. */
  async reviveAgent(): Promise<void> {
    this.agent.kill();
    await this.cut();
    // What it saw under its hands and had no time to remember, nobody can know.
    for (const wish of this.ledger.objects.values()) if (!this.member.remembers(wish.hubUid)) delete wish.keep;
    this.agent = new MachineAgent(this.member, this.clock);
    await this.agent.load();
    this.member.relist();
  }

  async end(): Promise<void> {
    this.agent.kill();
    for (const zombie of this.zombies) await this.hub.close(zombie);
    await this.cut();
  }

  async pass(ms: number): Promise<void> {
    if (this.member.synced) this.member.deliverWatch();
    await this.agent.settled();
    this.#offsetMs += ms;
    await this.user.pass(ms);
    const { connection } = this;
    // A comparison that is owed is asked for by a timer of the hub, which waits on the real clock.
    if (connection !== undefined && (await this.user.look()).head.inventoryNeeded)
      connection.toAgent.push({ type: 'Reconnect', nonce: 'r', payload: { afterMs: 0 } });
    if (this.member.synced) this.#timers.pass(15_000);
  }

  /** The session looks four times a second whether the API server can be heard. */
  lookAtStore(): void {
    this.#timers.pass(250);
  }

  /** Everybody is well again, and keeps doing what they do by themselves. Throws when that does not come to rest. */
  async comeToRest(): Promise<void> {
    this.agent.killAfter(Infinity);
    this.member.synced = true;
    this.member.relist();
    while (this.zombies.length > 0) await this.buryZombie();
    let before = '';
    for (let round = 0, quiet = 0; quiet < 2; round += 1) {
      if (round > MOST_ROUNDS) throw new Error(`hub and agent do not come to rest: ${before}`);
      const undisturbed = await this.#restRound();
      await this.check();
      const { head, rows } = await this.user.look();
      const isDone = !head.inventoryNeeded && head.revision === head.ackedRevision && !rows.some((row) => row.deletion);
      const now = JSON.stringify([head, rows, this.member.store.version]);
      quiet = undisturbed && isDone && now === before ? quiet + 1 : 0;
      before = now;
    }
  }

  /** Retries may go on for ever; true when the session lasts. */
  async #restRound(): Promise<boolean> {
    if (this.connection === undefined) await this.connect();
    const { connection } = this;
    if (await this.user.approve(this.ledger)) this.note('a person approves');
    this.member.operate();
    this.member.deliverWatch();
    await this.agent.settled();
    for (let frames = 0; ; frames += 1) {
      const frame = (await this.deliverToAgent()) || (await this.deliverToHub());
      if (frame === false) break;
      if (!frame.startsWith('Heartbeat')) this.note(`  ${frame}`);
      if (frames > MOST_FRAMES) throw new Error('hub and agent do not stop talking');
    }
    await this.pass(5 * 60_000 + 1);
    if (this.connection !== undefined) await this.hub.poll(this.connection);
    return connection === this.connection;
  }
}
