/**
 * What one stranger costs the hub at most: CPU until it is gone, and memory while it is there. Many of a kind come at once,
 * and what they cost together is divided: of one alone nothing could be seen.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HubProcess } from '../../tools/fleet/hub-process.ts';
import type { BenchFigure } from '../bench-row.ts';
import { readUsage } from '../fleet/process-usage.ts';
import { ATTACKS, type Attack } from './stranger-attacks.ts';

const STRANGERS = 200;
const GOAL = { cpuMs: 5, memoryKib: 64 };
const SAMPLE_MS = 50;
/** For what the hub cleans up after them. */
const SETTLE_MS = 1_500;

const attackTogether = async (hub: HubProcess, attack: Attack, count: number): Promise<void> => {
  await Promise.all(Array.from({ length: count }, () => attack.run(hub)));
  await sleep(SETTLE_MS);
};

/** CPU seconds a second that the hub spends on itself. */
async function measureIdle(hub: HubProcess): Promise<number> {
  const before = readUsage(hub.pid).cpuSeconds;
  await sleep(10_000);
  return (readUsage(hub.pid).cpuSeconds - before) / 10;
}

async function measureAttack(hub: HubProcess, attack: Attack, idle: number): Promise<BenchFigure[]> {
  // The first time compiles code and grows the heap, which is not theirs.
  await attackTogether(hub, attack, STRANGERS);
  const before = readUsage(hub.pid);
  const startedAt = performance.now();
  let highestMib = before.rssMib;
  const timer = setInterval(() => (highestMib = Math.max(highestMib, readUsage(hub.pid).rssMib)), SAMPLE_MS);
  await attackTogether(hub, attack, STRANGERS);
  clearInterval(timer);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuSeconds = readUsage(hub.pid).cpuSeconds - before.cpuSeconds - idle * seconds;
  const group = 'strangers, each of 200 at once';
  return [
    {
      group,
      name: `${attack.name}: CPU`,
      value: (Math.max(0, cpuSeconds) * 1_000) / STRANGERS,
      unit: 'ms',
      goal: GOAL.cpuMs,
    },
    {
      group,
      name: `${attack.name}: memory`,
      value: ((highestMib - before.rssMib) * 1024) / STRANGERS,
      unit: 'KiB',
      goal: GOAL.memoryKib,
    },
  ];
}

export async function measureStrangers(hub: HubProcess): Promise<BenchFigure[]> {
  const idle = await measureIdle(hub);
  const figures: BenchFigure[] = [];
  for (const attack of ATTACKS) {
    console.error(`strangers: ${attack.name}`);
    figures.push(...(await measureAttack(hub, attack, idle)));
  }
  return figures;
}
