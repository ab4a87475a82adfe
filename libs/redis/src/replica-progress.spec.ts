import { describe, expect, it } from 'vitest';
import type { ReachableRedis } from './build-redis-facts.ts';
import { buildRedisFacts } from './build-redis-facts.ts';
import { ReplicaProgress } from './replica-progress.ts';

const facts = (offsetBytes: number, change: Partial<ReachableRedis> = {}): ReachableRedis => ({
  ...buildRedisFacts('role:slave\r\nrun_id:one\r\nmaster_link_status:up\r\n', {}),
  offsetBytes,
  ...change,
});

describe('a replica that stands still', () => {
  it('has read more than it applied, and applied nothing since the look before', () => {
    const progress = new ReplicaProgress();
    expect(progress.look(facts(50), 77, 1_000)).toEqual({ unappliedForMs: 0 });
    expect(progress.look(facts(50), 99, 2_500)).toEqual({ unappliedForMs: 1_500 });
    expect(progress.look(facts(99), 99, 3_000)).toEqual({});
    expect(progress.look(facts(99), 120, 4_000)).toEqual({ unappliedForMs: 0 });
  });

  it('is not one that goes on slowly, was restarted, takes a full copy, or is linked to nobody', () => {
    const progress = new ReplicaProgress();
    progress.look(facts(50), 77, 0);
    expect(progress.look(facts(60), 99, 5_000)).toEqual({ unappliedForMs: 0 });
    expect(progress.look(facts(60, { runId: 'two' }), 99, 9_000)).toEqual({ unappliedForMs: 0 });
    expect(progress.look(facts(60, { runId: 'two', syncInProgress: true }), 99, 20_000)).toEqual({});
    expect(progress.look(facts(60, { linkUp: false }), 99, 30_000)).toEqual({});
    expect(progress.look(facts(60, { role: 'master' }), 99, 40_000)).toEqual({});
  });
});
