/** What can happen next in a state machine run, with how often it does, and the line that a failing seed prints of it. */
import { carryOutUnheard, deliverAll, exchangeWhileAway, putBackPending } from './machine-mishaps.ts';
import { BEGUN, type Profile, PROFILES } from './machine-profiles.ts';
import type { MachineRun } from './machine-run.ts';
import { hubUidOf } from './machine-member.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

interface Step {
  readonly name: string;
  readonly weight: number;
  /** False: it could not happen now. A text: what happened, beside the name. */
  readonly run: (run: MachineRun) => Promise<boolean | string> | boolean | string;
}

const people: readonly Step[] = [
  {
    name: 'a person creates',
    weight: 9,
    run: async (run) => {
      const name = run.random.pick(NAMES) ?? 'a';
      const adopt = run.random.chance(0.25);
      return (await run.user.create(name, adopt, run.ledger)) && `${name}${adopt ? ', adopting' : ''}`;
    },
  },
  { name: 'a person changes', weight: 6, run: (run) => onRow(run, (row) => run.user.update(row)) },
  {
    name: 'a person deletes',
    weight: 5,
    run: (run) => onRow(run, (row) => run.user.remove(row, 'DELETE', run.ledger)),
  },
  {
    name: 'a person deletes, and it is delivered',
    weight: 0.5,
    run: async (run) => {
      const deleted = await onRow(run, (row) => run.user.remove(row, 'DELETE', run.ledger));
      if (deleted !== false) await deliverAll(run);
      return deleted;
    },
  },
  {
    name: 'a person deletes all, one after the other',
    weight: 1,
    run: async (run) => {
      const rows = (await run.user.rows()).filter((row) => row.deletion === null);
      for (const row of rows) await run.user.remove(row, 'DELETE', run.ledger);
      return rows.length > 0 && `${rows.length}`;
    },
  },
  {
    name: 'a person lets go',
    weight: 1,
    run: (run) => onRow(run, (row) => run.user.remove(row, 'ORPHAN', run.ledger)),
  },
  { name: 'a person approves', weight: 1, run: (run) => run.user.approve(run.ledger) },
  { name: 'a person has made again', weight: 1, run: (run) => onRow(run, (row) => run.user.recreate(row)) },
];

const wire: readonly Step[] = [
  { name: 'frame to the agent', weight: 22, run: (run) => run.deliverToAgent() },
  { name: 'frame to the agent, twice', weight: 2, run: (run) => run.deliverToAgent(true) },
  { name: 'frame to the hub', weight: 18, run: (run) => run.deliverToHub() },
  { name: 'frame to the hub, twice', weight: 2, run: (run) => run.deliverToHub(run.connection, true) },
  { name: 'late frame of an old connection', weight: 4, run: (run) => run.deliverToHub(run.zombies[0]) },
  {
    name: 'the connection breaks',
    weight: 3,
    run: async (run) => run.connection !== undefined && run.cut().then(() => true),
  },
  {
    name: 'the agent dials',
    weight: 8,
    run: async (run) => run.connection === undefined && run.connect().then(() => true),
  },
  {
    name: 'the agent dials over a dead connection',
    weight: 2,
    run: async (run) => {
      if (run.connection === undefined) return false;
      // What it still worked off was answered into the dead connection, and arrives when nobody waits for it any more.
      while (run.random.chance(0.6) && (await run.deliverToAgent()) !== false);
      if (run.connection !== undefined) await run.connect();
      return true;
    },
  },
  {
    name: 'the hub looks for work',
    weight: 6,
    run: async (run) => run.connection !== undefined && run.hub.poll(run.connection).then(() => true),
  },
];

const faults: readonly Step[] = [
  { name: 'the agent is killed', weight: 1, run: (run) => run.reviveAgent().then(() => true) },
  {
    name: 'the agent will be killed',
    weight: 3,
    run: (run) => {
      const requests = 1 + run.random.integer(6);
      run.agent.killAfter(requests);
      return `in request ${requests}`;
    },
  },
  { name: 'the agent tells its status', weight: 3, run: (run) => run.tellStatus() },
  { name: 'the agent writes its revision', weight: 3, run: (run) => flush(run) },
  {
    name: 'the agent loses its state',
    weight: 0.6,
    run: async (run) => {
      if (!run.member.loseAgentState()) return false;
      run.ledger.stateLost = true;
      run.ledger.deletesMs = [];
      await run.reviveAgent();
      return true;
    },
  },
  {
    name: 'the hub is killed',
    weight: 1,
    run: async (run) => {
      while (run.zombies.length > 0) await run.buryZombie();
      await run.cut();
      return true;
    },
  },
  { name: 'the hub is dumped', weight: 2, run: (run) => run.hub.dump().then(() => true) },
  { name: 'the hub is put back', weight: 1.2, run: (run) => run.restoreHub(true) },
  { name: 'the hub is put back and nobody notices', weight: 1.2, run: (run) => run.restoreHub(false) },
  { name: 'the outbox is trimmed', weight: 2, run: (run) => run.user.trimOutbox().then(() => true) },
  { name: 'five minutes pass', weight: 2, run: (run) => run.pass(5 * 60_000 + 1).then(() => true) },
];

const mishaps: readonly Step[] = [
  { name: 'a delete waits in a dump that is put back', weight: 0.1, run: putBackPending },
  { name: 'a delete is carried out unheard, and its object put back', weight: 0.1, run: carryOutUnheard },
  { name: 'an object is exchanged while its agent is away', weight: 0.1, run: exchangeWhileAway },
];

const member: readonly Step[] = [
  {
    name: 'the watch brings',
    weight: 10,
    run: (run) => {
      if (run.member.pending === 0 || !run.member.synced) return false;
      run.member.deliverWatch(1 + run.random.integer(3));
      return true;
    },
  },
  { name: 'the operator works', weight: 4, run: (run) => (run.member.operate(), true) },
  {
    name: 'kubectl create',
    weight: 1,
    run: (run) => {
      const name = run.random.pick(NAMES) ?? 'a';
      if (run.member.find(name) !== undefined) return false;
      run.member.createByHand(name, 1_000 + run.random.integer(9));
      return name;
    },
  },
  {
    name: 'kubectl edit',
    weight: 2,
    run: (run) => onLive(run, (name) => run.member.editByHand(name, 2_000 + run.random.integer(1_000))),
  },
  { name: 'kubectl delete', weight: 1.5, run: (run) => onLive(run, (name) => run.member.deleteByHand(name)) },
  { name: 'the API server goes', weight: 1, run: (run) => hear(run, false) },
  { name: 'the API server comes back', weight: 3, run: (run) => hear(run, true) },
  { name: 'the member cluster is backed up', weight: 2, run: (run) => (run.member.backUp(), true) },
  {
    name: 'the member cluster is put back',
    weight: 0.7,
    run: async (run) => {
      if (!run.member.restore()) return false;
      run.ledger.stateLost = true;
      run.ledger.deletesMs = [];
      await run.reviveAgent();
      return true;
    },
  },
  {
    name: 'the objects of the member cluster are put back',
    weight: 1.2,
    run: async (run) => {
      await run.agent.settled();
      if (!run.member.restoreObjects()) return false;
      if (run.member.synced) run.member.relist();
      return true;
    },
  },
  {
    name: 'an object is put back under its hands',
    weight: 0.5,
    run: (run) => {
      run.agent.beforeDelete((name) => {
        const hubUid = hubUidOf(run.member.find(name));
        const uid = run.member.replaceByHand(name);
        if (hubUid !== undefined && uid !== undefined) run.ledger.putBackAs(hubUid, uid);
        if (run.member.synced) run.member.relist();
      });
      return true;
    },
  },
];

const STEPS: readonly Step[] = [...people, ...wire, ...faults, ...mishaps, ...member];

const weightsOf = (profile: Profile): readonly { step: Step; weight: number }[] =>
  STEPS.map((step) => ({ step, weight: step.weight * (profile[step.name] ?? 1) }));
const WEIGHTED = PROFILES.map(weightsOf);

/** Such a life begins with objects that are there. */
export async function begin(run: MachineRun): Promise<void> {
  if (!BEGUN.has(run.seed % PROFILES.length)) return;
  for (const name of NAMES) await run.user.create(name, false, run.ledger);
  await run.connect();
  await deliverAll(run);
}

function choose(run: MachineRun): Step | undefined {
  const weighted = WEIGHTED[run.seed % WEIGHTED.length] ?? [];
  let at = run.random.next() * weighted.reduce((sum, { weight }) => sum + weight, 0);
  return weighted.find(({ weight }) => (at -= weight) < 0)?.step;
}

/** Does one thing that can happen now, and writes it down. */
export async function step(run: MachineRun): Promise<void> {
  for (;;) {
    const chosen = choose(run);
    if (chosen === undefined) continue;
    const before = run.steps.length;
    run.note(chosen.name);
    const result = await chosen.run(run);
    if (result === false) {
      run.steps.length = before;
      continue;
    }
    if (typeof result === 'string') run.steps[before] = `${chosen.name}: ${result}`;
    if (run.agent.isDead) await run.reviveAgent();
    return;
  }
}

type Row = Awaited<ReturnType<MachineRun['user']['rows']>>[number];

async function onRow(run: MachineRun, work: (row: Row) => Promise<void>): Promise<string | false> {
  const rows = (await run.user.rows()).filter((row) => row.deletion === null);
  const row = run.random.pick(rows);
  if (row === undefined) return false;
  await work(row);
  return `${row.name} ${row.hubUid.slice(-4)}`;
}

function onLive(run: MachineRun, work: (name: string) => void): string | false {
  const object = run.random.pick(run.member.live().filter((one) => one.metadata.deletionTimestamp === undefined));
  if (object === undefined) return false;
  work(object.metadata.name);
  return `${object.metadata.name} ${hubUidOf(object)?.slice(-4) ?? 'made by hand'}`;
}

async function flush(run: MachineRun): Promise<boolean> {
  if (!run.member.synced) return false;
  await run.agent.flush();
  return true;
}

function hear(run: MachineRun, synced: boolean): boolean {
  if (run.member.synced === synced) return false;
  run.member.synced = synced;
  if (synced) run.member.relist();
  run.lookAtStore();
  return true;
}
