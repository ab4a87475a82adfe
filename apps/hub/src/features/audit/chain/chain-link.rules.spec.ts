import { describe, expect, it } from 'vitest';
import {
  chainRow,
  findBreak,
  FLEET_CHAIN,
  type ChainedRow,
  type ChainHead,
  type ChainRow,
} from './chain-link.rules.ts';

const START: ChainHead = { chain: FLEET_CHAIN, chainNumber: 0, chainHash: null };
const row = (seq: number): ChainRow => ({
  chain: FLEET_CHAIN,
  seq,
  at: '2026-01-01T00:00:00.000000Z',
  principal: 'ana',
  action: 'deleteRedisCluster',
  target: 'cache',
  beforeSha256: 'b',
  afterSha256: null,
  result: 'OK',
  code: null,
  requestId: 'r',
  count: 1,
  lastAt: null,
});

function chainOf(length: number): ChainedRow[] {
  const links: ChainedRow[] = [];
  for (let seq = 1; seq <= length; seq += 1) links.push(chainRow(row(seq), links.at(-1) ?? START));
  return links;
}
const firstBreak = (links: readonly ChainedRow[]): object | undefined => {
  let head = START;
  for (const link of links) {
    const found = findBreak(link, head);
    if (found) return found;
    head = link;
  }
  return undefined;
};

describe('a chain of audit rows', () => {
  it('holds when nothing was changed', () => {
    expect(firstBreak(chainOf(5))).toBeUndefined();
  });

  it('has the hash that its description says, for all releases', () => {
    expect(chainOf(1)[0]?.chainHash).toBe('577121561d21ef132aa8ceb3eac3c442fca9227aa5de54b7239eb1313061ff0d');
  });

  it('does not change its hashes when rows have a further column', () => {
    const further = { ...row(1), later: 'column' };
    expect(chainRow(further, START).chainHash).toBe(chainRow(row(1), START).chainHash);
  });

  it.each(Object.keys(row(1)).filter((name) => name !== 'chain'))('breaks at a row whose %s was changed', (name) => {
    const links = chainOf(3);
    links[1] = { ...(links[1] as ChainedRow), [name]: name === 'seq' || name === 'count' ? 99 : 'other' };
    expect(firstBreak(links)).toMatchObject({ reason: 'HASH_DIFFERS', chainNumber: 2 });
  });

  it('breaks after a row that was taken out', () => {
    expect(firstBreak(chainOf(3).toSpliced(1, 1))).toMatchObject({ reason: 'ROW_MISSING', seq: 3 });
    expect(firstBreak(chainOf(3).slice(1))).toMatchObject({ reason: 'ROW_MISSING', seq: 2 });
  });

  it('breaks after a row that was made again, with a hash of its own', () => {
    const links = chainOf(3);
    links[1] = chainRow({ ...row(2), principal: 'bob' }, links[0] as ChainedRow);
    expect(firstBreak(links)).toMatchObject({ reason: 'HASH_DIFFERS', chainNumber: 3 });
  });

  it('breaks where two rows changed places', () => {
    const links = chainOf(3);
    const [first, second] = [
      { ...row(2), seq: 2 },
      { ...row(1), seq: 1 },
    ];
    const swapped = [
      { ...first, chainNumber: 1, chainHash: links[0]?.chainHash ?? '' },
      { ...second, chainNumber: 2, chainHash: links[1]?.chainHash ?? '' },
    ];
    expect(firstBreak(swapped)).toMatchObject({ reason: 'HASH_DIFFERS', chainNumber: 1 });
  });
});
