import { describe, expect, it } from 'vitest';
import { renderScheduling } from './render-scheduling.ts';

const LABELS = { app: 'redis' };

describe('where pods may run', () => {
  it('without a word of the user: spread where it can be, off a lost node after 30 s', () => {
    const made = renderScheduling({}, LABELS);
    expect(Object.keys(made)).toEqual(['tolerations', 'topologySpreadConstraints', 'affinity']);
    expect(made.topologySpreadConstraints?.map((each) => each.whenUnsatisfiable)).toEqual([
      'ScheduleAnyway',
      'ScheduleAnyway',
    ]);
    expect(made.tolerations?.map((each) => each.tolerationSeconds)).toEqual([30, 30]);
    expect(made.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toBeUndefined();
  });

  it('Sentinels: beside data pods, less strongly than apart from each other', () => {
    const made = renderScheduling({}, LABELS, { app: 'data' });
    const near = made.affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    expect(near.map(({ podAffinityTerm }) => podAffinityTerm.topologyKey)).toEqual([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ]);
    expect(near.map(({ podAffinityTerm }) => podAffinityTerm.labelSelector?.matchLabels)).toEqual([
      { app: 'data' },
      { app: 'data' },
    ]);
    const apart = made.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.[0]?.weight ?? 0;
    expect(near.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThan(apart);
  });

  it('Required: no second pod on a node, and no zone ahead of the others', () => {
    const made = renderScheduling({ spread: { node: 'Required', zone: 'Required' } }, LABELS);
    expect(made.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toEqual([
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: LABELS } },
    ]);
    const zones = made.topologySpreadConstraints?.find((each) => each.topologyKey === 'topology.kubernetes.io/zone');
    expect(zones).toMatchObject({ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' });
  });

  it('passes on node selector, priority and tolerations; one for the loss of nodes takes the place of ours', () => {
    const own = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' } as const;
    const extra = { key: 'disk', operator: 'Equal', value: 'ssd', effect: 'NoSchedule' } as const;
    const made = renderScheduling(
      { nodeSelector: { disk: 'ssd' }, priorityClassName: 'high', tolerations: [own, extra] },
      LABELS,
    );
    expect(made.nodeSelector).toEqual({ disk: 'ssd' });
    expect(made.priorityClassName).toBe('high');
    expect(made.tolerations).toEqual([
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
      own,
      extra,
    ]);
  });
});
