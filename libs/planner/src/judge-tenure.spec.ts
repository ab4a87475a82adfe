import { describe, expect, it } from 'vitest';
import type { Scope, ScopeRecord } from '#domain';
import { judgeTenure } from './judge-tenure.ts';

const CLUSTER: Scope = { kind: 'CLUSTER' };
const SHOP: Scope = { kind: 'NAMESPACE', namespace: 'shop' };
const judge = (scope: Scope, record: Partial<ScopeRecord>, hasAsked = false) =>
  judgeTenure({ record: { owner: 'CLUSTER', resourceVersion: '1', ...record }, scope, namespace: 'shop', hasAsked });

describe('the ownership of a namespace', () => {
  it('is asked for by the agent of that namespace, once, and never by a cluster-wide one', () => {
    expect(judge(SHOP, {})).toEqual({ kind: 'ASK' });
    expect(judge(SHOP, {}, true)).toEqual({ kind: 'LOOK_ON' });
    expect(judge(SHOP, { requestedBy: 'NAMESPACE/shop' })).toEqual({ kind: 'LOOK_ON' });
    expect(judge(CLUSTER, { owner: 'NAMESPACE/shop' })).toEqual({ kind: 'LOOK_ON' });
  });

  it('is not asked for again by who has handed it over, whatever its restarts', () => {
    expect(judge(SHOP, { releasedBy: 'NAMESPACE/shop' })).toEqual({ kind: 'LOOK_ON' });
    expect(judge(SHOP, { releasedBy: 'CLUSTER' })).toEqual({ kind: 'ASK' });
  });

  it('is handed over in both directions', () => {
    expect(judge(CLUSTER, { requestedBy: 'NAMESPACE/shop' })).toEqual({ kind: 'HAND_OVER', to: 'NAMESPACE/shop' });
    expect(judge(SHOP, { owner: 'NAMESPACE/shop', requestedBy: 'CLUSTER' })).toEqual({
      kind: 'HAND_OVER',
      to: 'CLUSTER',
    });
  });

  it.each(['NAMESPACE/other', 'somebody', '', 'CLUSTER'])('is not handed to %j, who cannot serve it', (requestedBy) => {
    expect(judge(CLUSTER, { requestedBy })).toEqual({ kind: 'OWN' });
  });

  it('never has two who act: whatever the record says, at most one of them is the owner', () => {
    const names = ['CLUSTER', 'NAMESPACE/shop', 'NAMESPACE/other', ''];
    for (const owner of names) {
      for (const requestedBy of names) {
        for (const releasedBy of names) {
          const acts = [CLUSTER, SHOP].filter((scope) =>
            ['OWN', 'HAND_OVER'].includes(judge(scope, { owner, requestedBy, releasedBy }).kind),
          );
          expect(acts.length).toBeLessThanOrEqual(1);
        }
      }
    }
  });
});
