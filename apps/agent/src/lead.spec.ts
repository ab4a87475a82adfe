import { describe, expect, it } from 'vitest';
import { linkParts } from './lead.ts';
import type { LeadSettings } from './lead.ts';
import type { Operator } from './operator.ts';

describe('what the link may count', () => {
  it.each([
    [true, true, true],
    [true, false, false],
    // Nobody else can hold the Lease yet; until the cache is stale by itself somebody could.
    [false, true, false],
  ])('lease renewed: %s, cache fresh: %s → inventory known: %s', (isRenewed, isFresh, isKnown) => {
    const settings = { mayWrite: () => isRenewed, scope: { kind: 'CLUSTER' } } as unknown as LeadSettings;
    const operator = { cache: { knowsResources: () => isFresh }, feed: {} } as unknown as Operator;
    expect(linkParts(settings, operator).store.isSynced()).toBe(isKnown);
  });
});
