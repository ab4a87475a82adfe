import { describe, expect, it } from 'vitest';
import type { AgentScale } from './measure-agent-scale.ts';
import { parseOperatorOptions } from './operator-options.ts';
import { scaleFigures } from './scale-figures.ts';

const scale = (redisClusters: number, rssMib: number, cpuPercent: number): AgentScale => {
  const watched = { rssMib, anonMib: rssMib - 40, fileMib: 40, cpuPercent };
  return {
    mode: 'Replication',
    redisClusters,
    allReadyS: 1,
    idle: watched,
    restarted: watched,
    commandsPerMinute: 24,
    readyMs: [300, 900, 400],
    lookedAtAllMs: [500, 600, 700],
  };
};

describe('the figures of the agent', () => {
  it('hold memory, CPU and start against the goals of the sizes that have one', () => {
    const figures = scaleFigures([scale(1, 66, 0.5), scale(50, 80, 4), scale(200, 120, 12)]);
    const goalOf = (name: string) => figures.find((figure) => figure.name === name)?.goal;
    expect(goalOf('1: memory (RSS), at rest')).toBe(70);
    expect(goalOf('50: memory (RSS), at rest')).toBeNull();
    expect(goalOf('200: memory (RSS), at rest')).toBe(150);
    expect(figures.find(({ name }) => name === '200: start until ready, P50 of 3')).toMatchObject({
      value: 400,
      goal: 500,
    });
  });

  it('tell what each RedisCluster more costs, step by step', () => {
    const figures = scaleFigures([scale(1, 66, 0), scale(50, 115, 4.9), scale(200, 265, 19.9)]);
    const growth = figures.filter(({ name }) => name.startsWith('each'));
    expect(growth.map(({ name, value }) => [name, Math.round(value)])).toEqual([
      ['each RedisCluster more, 1 to 50: memory', 1024],
      ['each RedisCluster more, 1 to 50: CPU a minute', 60],
      ['each RedisCluster more, 50 to 200: memory', 1024],
      ['each RedisCluster more, 50 to 200: CPU a minute', 60],
    ]);
  });
});

describe('the options', () => {
  it('measure both parts at three sizes unless told otherwise', () => {
    expect(parseOperatorOptions([])).toEqual({
      engine: true,
      agent: true,
      mode: 'Replication',
      sizes: [1, 50, 200],
      watchS: 60,
    });
    const only = ['--only', 'agent', '--clusters', '200,1', '--mode', 'Sentinel', '--watch', '20', '--json'];
    expect(parseOperatorOptions(only)).toEqual({
      engine: false,
      agent: true,
      mode: 'Sentinel',
      sizes: [1, 200],
      watchS: 20,
    });
  });

  it.each([
    [['--only', 'redis'], '--only is engine or agent'],
    [['--mode', 'Standalone'], '--mode is one of'],
    [['--clusters', '1,x'], 'x is no whole number'],
    [['--watch', '0'], '0 is no whole number'],
  ])('refuse %j', (args, message) => {
    expect(() => parseOperatorOptions(args)).toThrow(message);
  });
});
