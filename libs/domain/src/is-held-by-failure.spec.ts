import { describe, expect, it } from 'vitest';
import { ENDING_REASON, FENCING_REASON, isHeldByFailure } from './is-held-by-failure.ts';
import type { Action, ActionKind } from './plan.ts';

const action = (kind: ActionKind, reason = 'Test'): Action => ({ kind, reason }) as Action;
const holds = (failed: ActionKind, later: ActionKind, unanswered = false): boolean =>
  isHeldByFailure(action(later), action(failed), unanswered);

const REPAIRS: readonly ActionKind[] = ['WriteRecord', 'PromotePod', 'ReplicateFrom', 'MonitorPrimary', 'LabelRole'];
const OBJECTS: readonly ActionKind[] = [
  'AddFinalizer',
  'ApplyChild',
  'DeleteChild',
  'CreateCredentials',
  'PublishConnection',
  'WriteCredentials',
  'SetConfig',
  'SetUsers',
  'RefreshPod',
  'GrowVolume',
  'EvictPod',
];

describe('what a failed action holds up', () => {
  it.each(OBJECTS)('%s holds up no repair and no change of users, answered or not', (failed) => {
    for (const repair of [...REPAIRS, 'FencePod', 'FailOverBySentinel', 'SetUsers'] as const) {
      expect(holds(failed, repair), repair).toBe(false);
      expect(holds(failed, repair, true), repair).toBe(false);
    }
    expect(isHeldByFailure(action('SetConfig', FENCING_REASON), action(failed), false)).toBe(false);
    expect(isHeldByFailure(action('SwitchOver', ENDING_REASON), action(failed), false)).toBe(false);
  });

  it.each(['ApplyChild', 'WriteCredentials', 'ReplicateFrom', 'SetUsers'] as const)(
    '%s holds up further objects, restarts and hand-overs',
    (failed) => {
      for (const later of ['ApplyChild', 'DeleteChild', 'EvictPod', 'SwitchOver', 'SetConfig'] as const) {
        expect(holds(failed, later), later).toBe(true);
      }
    },
  );

  it('a refused Secret for clients holds up nothing; one that nobody answered for, all but repairs', () => {
    for (const later of ['ApplyChild', 'WriteCredentials', 'EvictPod', 'PublishConnection', 'LabelRole'] as const) {
      expect(holds('PublishConnection', later), later).toBe(false);
    }
    expect(holds('PublishConnection', 'PublishConnection', true)).toBe(true);
  });

  it.each(['WriteRecord', 'PromotePod', 'FailOverBySentinel', 'SwitchOver', 'SetAside'] as const)(
    'after %s nothing is as it was planned for, but users are still set',
    (failed) => {
      for (const later of [...REPAIRS, 'ApplyChild', 'EvictPod'] as const) {
        expect(holds(failed, later), later).toBe(true);
      }
      expect(holds(failed, 'SetUsers')).toBe(false);
    },
  );

  it('a label that could not be taken off is given to nobody else; a rival that is not fenced is not set aside', () => {
    expect(holds('LabelRole', 'LabelRole')).toBe(true);
    expect(holds('LabelRole', 'FencePod')).toBe(false);
    expect(holds('FencePod', 'SetAside')).toBe(true);
    expect(holds('FencePod', 'LabelRole')).toBe(false);
  });
});
