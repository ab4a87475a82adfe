import { describe, expect, it } from 'vitest';
import { ANNOTATION } from '#domain';
import type { Action, Condition, Plan, PlannedStatus, PlanResult, RedisClusterObject } from '#domain';
import { mergeStatus, STALLED_AFTER_FAILURES } from './merge-status.ts';

const resource: RedisClusterObject = {
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: {
    name: 'cache',
    namespace: 'shop',
    uid: 'u1',
    generation: 4,
    annotations: { [ANNOTATION.hubGeneration]: '7' },
  },
  spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel' },
};

const ready = (status: Condition['status'], message = 'three of three'): PlannedStatus['conditions'][number] => ({
  type: 'Ready',
  status,
  reason: 'AllReady',
  message,
  observedGeneration: 4,
});

const planOf = (conditions: PlannedStatus['conditions'], actions: readonly Action[] = []): Plan => ({
  actions,
  trail: [],
  status: {
    phase: 'Ready',
    conditions,
    readyPods: 3,
    size: 3,
    pods: [{ name: 'cache-0', role: 'primary', ready: true }],
    sentinels: [],
    dataSetId: 'd1',
    renderVersion: 1,
  },
});

const nothing: PlanResult = { done: [] };
const first = '2026-11-30T05:00:00.000Z';
const later = '2026-11-30T06:00:00.000Z';
const merge = (plan: Plan, more: Partial<Parameters<typeof mergeStatus>[0]> = {}) =>
  mergeStatus({ resource, last: undefined, plan, result: nothing, failuresBefore: 0, now: first, ...more });

const apply = (name: string, reason = 'Create'): Action => ({
  kind: 'ApplyChild',
  reason,
  message: 'The object is missing.',
  disruptive: false,
  object: { apiVersion: 'v1', kind: 'Service', metadata: { name } },
});

describe('mergeStatus', () => {
  it('gives an equal status for the same picture an hour later', () => {
    const before = merge(planOf([ready('True')]));
    expect(merge(planOf([ready('True')]), { last: before, now: later })).toEqual(before);
  });

  it('keeps the time of transition when only the sentence changes, and moves it when the status changes', () => {
    const before = merge(planOf([ready('True')]));
    const reworded = merge(planOf([ready('True', 'still three')]), { last: before, now: later });
    expect(reworded.conditions?.[0]?.lastTransitionTime).toBe(first);
    const changed = merge(planOf([ready('False')]), { last: before, now: later });
    expect(changed.conditions?.[0]?.lastTransitionTime).toBe(later);
  });

  it('says which generations it has seen and how many pods are ready', () => {
    const status = merge(planOf([ready('True')]));
    expect(status).toMatchObject({ observedGeneration: 4, observedHubGeneration: 7, ready: '3/3', mode: 'Sentinel' });
    expect(status).not.toHaveProperty('sentinels');
    expect(status.shards?.[0]?.pods).toHaveLength(1);
  });

  it('names whom a hand-over made primary, and nobody when it came to nothing', () => {
    const told = { reason: 'PrimaryIsEnding', message: 'cache-0 hands over.', disruptive: true };
    const handover = { kind: 'SwitchOver', from: 'cache-0', to: 'cache-1', ...told } as Action;
    const plan = planOf([ready('True')], [apply('a'), handover]);
    const targeted: Plan = { ...plan, status: { ...plan.status, targetPrimary: 'cache-1' } };
    expect(merge(targeted, { result: { done: [handover] } }).targetPrimary).toBe('cache-1');
    const failure = { action: handover, reason: 'SwitchOverFailed', message: 'It has stayed primary.' };
    expect(merge(targeted, { result: { done: targeted.actions.slice(0, 1), failure } })).not.toHaveProperty(
      'targetPrimary',
    );
    expect(merge({ ...targeted, actions: [] }).targetPrimary).toBe('cache-1');
  });

  it('is Stalled only after several failures in a row, in place of what the plan said', () => {
    const result: PlanResult = {
      done: [],
      failure: { action: apply('a'), reason: 'ApplyChildFailed', message: 'quota exceeded' },
    };
    const plan = planOf([ready('True'), { ...ready('False'), type: 'Stalled' }], [apply('a')]);
    const early = merge(plan, { result, failuresBefore: STALLED_AFTER_FAILURES - 2 });
    expect(early.conditions?.find((c) => c.type === 'Stalled')?.status).toBe('False');
    const stalled = merge(plan, { result, failuresBefore: STALLED_AFTER_FAILURES - 1 });
    expect(stalled.conditions?.filter((c) => c.type === 'Stalled')).toMatchObject([
      {
        status: 'True',
        reason: 'ApplyChildFailed',
        message: `quota exceeded Since ${first}.`,
        lastTransitionTime: first,
      },
    ]);
    const still = merge(plan, { result, failuresBefore: 9, last: stalled, now: later });
    expect(still.conditions).toEqual(stalled.conditions);
  });

  it('is not Reconciling while it is Stalled, or whoever waits for it waits for ever', () => {
    const plan = planOf([
      ready('False'),
      { ...ready('True'), type: 'Reconciling' },
      { ...ready('True', 'It has stood still since 2026-11-30T04:00:00.000Z.'), type: 'Stalled' },
    ]);
    const { conditions = [] } = merge(plan);
    expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Ready=False',
      'Reconciling=False',
      'Stalled=True',
    ]);
    expect(conditions[2]?.message).toBe('It has stood still since 2026-11-30T04:00:00.000Z.');
  });

  it('records a creation of many children as one decision and a repeated failure once', () => {
    const actions = ['a', 'b', 'c', 'd', 'e'].map((name) => apply(name));
    const done = merge(planOf([], actions), { result: { done: actions } });
    expect(done.decisions).toHaveLength(1);
    expect(done.decisions?.[0]?.action).toBe(
      'ApplyChild Service a, ApplyChild Service b, ApplyChild Service c and 2 more',
    );
    const failure = { action: apply('a'), reason: 'ApplyChildFailed', message: 'quota exceeded' };
    const failed = merge(planOf([], actions), { last: done, result: { done: [], failure }, now: later });
    const again = merge(planOf([], actions), { last: failed, result: { done: [], failure }, now: later });
    expect(failed.decisions).toHaveLength(2);
    expect(again.decisions).toEqual(failed.decisions);
  });

  it('keeps the newest twenty decisions', () => {
    let last = merge(planOf([]));
    for (let i = 0; i < 30; i += 1) {
      last = merge(planOf([]), { last, result: { done: [apply('a', `Reason${i}`)] }, now: later });
    }
    expect(last.decisions).toHaveLength(20);
    expect(last.decisions?.[0]?.reason).toBe('Reason10');
    expect(last.decisions?.at(-1)?.reason).toBe('Reason29');
  });

  it('what was set aside by an action stays; of folders that pods left behind the plan tells those that are there now', () => {
    const setAside: Action = {
      kind: 'SetAside',
      pod: 'cache-1',
      expectRunId: 'r',
      file: 'set-aside-1.rdb',
      reason: 'TwoPrimaries',
      message: 'It is kept.',
      disruptive: false,
    };
    const left = { pod: 'cache-2', file: 'left-behind.1', at: first, reason: 'LeftBehind', bytes: 4_096 };
    const plan = planOf([ready('True')], [setAside]);
    const withLeft = { ...plan, status: { ...plan.status, setAside: [left] } };
    const before = merge(withLeft, { result: { done: [setAside] } });
    expect(before.setAside?.map(({ file }) => file)).toEqual(['set-aside-1.rdb', 'left-behind.1']);
    expect(merge(withLeft, { last: before }).setAside).toEqual(before.setAside);
    expect(merge(planOf([ready('True')]), { last: before }).setAside?.map(({ file }) => file)).toEqual([
      'set-aside-1.rdb',
    ]);
  });
});

describe('mergeStatus: what servers refused', () => {
  const said = (engine: string, value = 'loud') => ({
    key: 'loglevel',
    value,
    reason: `${engine} refused it.`,
    engine,
  });
  const withRefused = (rejected: readonly ReturnType<typeof said>[]): Plan => {
    const plan = planOf([]);
    return { ...plan, status: { ...plan.status, config: { applied: 0, pendingRestart: [], rejected } } };
  };

  it('remembers each engine’s word beside the other’s, and the newest of one engine', () => {
    const merged = merge(withRefused([said('Redis 7.0.15'), said('Redis 8.0.2', 'old')]), {
      result: { done: [], rejectedConfig: [said('Redis 8.0.2')] },
    });
    expect(merged.config?.rejected).toEqual([said('Redis 7.0.15'), said('Redis 8.0.2')]);
  });
});
