import { describe, expect, it } from 'vitest';
import type { Action } from '#domain';
import { chooseEvents } from './choose-events.ts';

const evict: Action = {
  kind: 'EvictPod',
  reason: 'RestartForConfig',
  message: 'Pod cache-1 restarts.',
  disruptive: true,
  pod: 'cache-1',
  podUid: 'u',
};
const label: Action = {
  kind: 'LabelRole',
  reason: 'RoleChanged',
  message: 'cache-1 is a replica.',
  disruptive: false,
  pod: 'cache-1',
  podUid: 'u',
  role: 'replica',
};

describe('chooseEvents', () => {
  it('says nothing about a settled pass', () => {
    expect(chooseEvents({ phase: 'Ready' }, { phase: 'Ready' }, { done: [] })).toEqual([]);
  });

  it('tells actions that people want to know, one event for a reason, and not the housekeeping', () => {
    const events = chooseEvents({ phase: 'Ready' }, { phase: 'Ready' }, { done: [evict, evict, label] });
    expect(events).toEqual([
      { severity: 'Warning', reason: 'RestartForConfig', message: 'Pod cache-1 restarts. And 1 more.' },
    ]);
  });

  it('tells a change of phase with the sentence of the Ready condition, as a warning when it is bad', () => {
    const conditions = [
      {
        type: 'Ready' as const,
        status: 'False' as const,
        reason: 'PrimaryLost',
        message: 'No primary.',
        observedGeneration: 1,
        lastTransitionTime: '',
      },
    ];
    expect(chooseEvents({ phase: 'Ready' }, { phase: 'Degraded', conditions }, { done: [] })).toEqual([
      { severity: 'Warning', reason: 'Degraded', message: 'No primary.' },
    ]);
    expect(chooseEvents(undefined, { phase: 'Ready' }, { done: [] })[0]?.severity).toBe('Normal');
  });

  it('tells a failure as a warning', () => {
    const failure = { action: evict, reason: 'EvictPodFailed', message: 'A budget forbids it now.' };
    expect(chooseEvents({ phase: 'Ready' }, { phase: 'Ready' }, { done: [], failure })).toEqual([
      { severity: 'Warning', reason: 'EvictPodFailed', message: 'A budget forbids it now.' },
    ]);
  });

  it('tells once that an old folder lies on a volume, with its size', () => {
    const entry = { pod: 'cache-2', file: 'left-behind.1764640000', at: '', reason: 'LeftBehind', bytes: 41_943_040 };
    const after = { phase: 'Ready', setAside: [entry] } as const;
    const [event] = chooseEvents({ phase: 'Ready' }, after, { done: [] });
    expect(event).toMatchObject({ severity: 'Normal', reason: 'LeftBehind' });
    expect(event?.message).toContain('cache-2');
    expect(event?.message).toContain('/data/left-behind.1764640000 (40 MiB)');
    expect(chooseEvents(after, after, { done: [] })).toEqual([]);
  });
});
