import { describe, expect, it } from 'vitest';

import { chooseExpired, isExpired, PARTITIONED_TABLES, planPartitions } from './partitions.ts';

const [event, changeLog] = PARTITIONED_TABLES as [(typeof PARTITIONED_TABLES)[0], (typeof PARTITIONED_TABLES)[0]];
const NOW = Date.UTC(2026, 10, 30, 12, 30);

describe('partitions', () => {
  it('cover the present hour, the one before and six ahead without a gap', () => {
    const plan = planPartitions(changeLog, NOW);
    expect(plan[0]?.fromMs).toBe(Date.UTC(2026, 10, 30, 11));
    expect(plan.at(-1)?.fromMs).toBe(Date.UTC(2026, 10, 30, 18));
    plan.slice(1).forEach((partition, index) => {
      expect(partition.fromMs).toBe((plan[index]?.fromMs ?? 0) + changeLog.lengthMs);
    });
  });

  it('expire only after their whole keep', () => {
    const name = planPartitions(changeLog, NOW)[1]?.name ?? '';
    expect(isExpired(changeLog, name, NOW + 24 * 3_600_000)).toBe(false);
    expect(isExpired(changeLog, name, NOW + 26 * 3_600_000)).toBe(true);
  });

  it('of another name never expire', () => {
    expect(isExpired(event, 'event_default', NOW + 1e12)).toBe(false);
  });

  it('expire sooner when the log is too large, oldest first, and never the present one or the one before', () => {
    const plan = planPartitions(changeLog, NOW).map(({ name }) => name);
    const [before = '', present = ''] = plan;
    const hour = Math.floor(NOW / changeLog.lengthMs);
    const older = [2, 3, 4].map((hours) => `change_log_p${hour - hours}`);
    const gib = 2 ** 30;
    const sized = (bytes: number): { name: string; bytes: number }[] =>
      [...older, present, before].map((name) => ({ name, bytes }));
    expect(chooseExpired(changeLog, sized(0.5 * gib), NOW)).toEqual([]);
    expect(chooseExpired(changeLog, sized(gib), NOW)).toEqual(older.slice(2));
    expect(chooseExpired(changeLog, sized(9 * gib), NOW)).toEqual(older);
    expect(chooseExpired(event, [{ name: 'event_default', bytes: 9 * gib }], NOW)).toEqual([]);
  });
});
