import { beforeEach, describe, expect, it } from 'vitest';

import { type GatedLine, LogGate, type RepeatedLine } from './log-gate.ts';

let [nowMs, made]: [number, number] = [0, 0];
let told: RepeatedLine<string>[] = [];
let gate: LogGate<string>;
/** What was asked for later, and when it is due. */
let later: { readonly work: () => void; readonly atMs: number }[] = [];

beforeEach(() => {
  [nowMs, made, told, later] = [0, 0, [], []];
  gate = new LogGate({
    nowMs: () => nowMs,
    later: (work, ms) => void later.push({ work, atMs: nowMs + ms }),
    tell: (line) => void told.push(line),
  });
});

const line = (failure: string, more: Partial<GatedLine<string>> = {}): GatedLine<string> => ({
  message: 'failed',
  failure,
  burst: 1,
  note: () => `note ${(made += 1)}`,
  ...more,
});

function pass(untilMs: number): void {
  while (later[0] !== undefined && later[0].atMs <= untilMs) {
    const { work, atMs } = later.shift()!;
    nowMs = atMs;
    work();
  }
  nowMs = untilMs;
}

describe('equal log lines', () => {
  it('are written once, and once a minute with their count while they go on', () => {
    const said = Array.from({ length: 10_000 }, () => gate.pass(line('a')));
    expect(said.filter(Boolean)).toHaveLength(1);
    expect(told).toEqual([]);
    pass(60_000);
    expect(told).toEqual([{ note: 'note 1', repeated: 9_999, subjects: [] }]);
    for (let i = 0; i < 5; i += 1) expect(gate.pass(line('a'))).toBe(false);
    pass(130_000);
    expect(told.map(({ repeated }) => repeated)).toEqual([9_999, 5]);
    // Described once a minute, however many there are.
    expect(made).toBe(2);
  });

  it('are written again at once after a minute without them', () => {
    gate.pass(line('a'));
    pass(60_000);
    expect([gate.pass(line('a')), told]).toEqual([true, []]);
  });

  it('leave others alone, and name some of the requests that they were about', () => {
    gate.pass(line('a', { subject: 'first' }));
    for (let i = 0; i < 50; i += 1) gate.pass(line('a', { subject: `request ${i}` }));
    expect(gate.pass(line('b'))).toBe(true);
    pass(70_000);
    expect(told).toHaveLength(1);
    expect(told[0]?.subjects).toHaveLength(10);
    expect(told[0]?.subjects[0]).toBe('request 0');
  });

  it('are bounded for one message, and all kept in bounded memory, however many kinds of failure there are', () => {
    let said = 0;
    for (let i = 0; i < 20_000; i += 1) if (gate.pass(line(`kind ${i}`))) said += 1;
    expect(said).toBe(200);
    expect(made).toBe(1);
    pass(70_000);
    expect(told.map(({ repeated }) => repeated)).toEqual([19_800]);
    pass(300_000);
    // Nothing is left to look after.
    expect(later).toEqual([]);
  });
});
