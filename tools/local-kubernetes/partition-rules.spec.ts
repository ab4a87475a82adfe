import { describe, expect, it } from 'vitest';
import { renderPartitionRules } from './partition-rules.ts';

const dropped = (script: string): string[] => script.split('\n').filter((line) => line.trim().endsWith(' drop'));

describe('partition rules', () => {
  it('remove the whole table when there is nothing to drop', () => {
    expect(renderPartitionRules(1, [], [])).toBe('table inet atoll\ndelete table inet atoll\n');
  });

  it('replace what was there before, so that healing one partition leaves the others', () => {
    const script = renderPartitionRules(1, [2], []);
    expect(script.startsWith('table inet atoll\ndelete table inet atoll\n')).toBe(true);
    expect(script).toContain('hook forward');
    expect(script).toContain('hook output');
    expect(script).toContain('hook input');
  });

  it.each([
    ['another node with its pods', 2, ['198.18.1.12', '198.18.52.0/24']],
    ['the API server', 'apiServer', ['198.18.1.1', 'dport 6443']],
    ['the hub, but neither API server nor DNS', 'hub', ['198.18.1.1', '!= { 6443, 53 }']],
    ['everybody', 'all', ['eth0']],
  ] as const)('drop both directions between a node and %s', (_, target, mentioned) => {
    const rules = dropped(renderPartitionRules(1, [target], []));
    for (const text of mentioned) expect(rules.join('\n')).toContain(text);
    expect(rules.some((rule) => /saddr|iifname/.test(rule))).toBe(true);
    expect(rules.some((rule) => /daddr|oifname/.test(rule))).toBe(true);
  });

  it('cut off exactly the address and port asked for', () => {
    expect(
      dropped(renderPartitionRules(1, [], [{ address: '198.18.1.1', port: 7443 }])).map((line) => line.trim()),
    ).toEqual(['ip daddr 198.18.1.1 tcp dport 7443 drop', 'ip saddr 198.18.1.1 tcp sport 7443 drop']);
  });
});
