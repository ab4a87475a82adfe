import { describe, expect, it } from 'vitest';
import { parseClusterRequest } from './parse-cluster-request.ts';

describe('a cluster on the command line', () => {
  it.each([
    ['a:3', { name: 'a', nodes: 3, shortGracePeriods: true }],
    ['eu-west', { name: 'eu-west', nodes: 1, shortGracePeriods: true }],
  ])('%s is understood', (text, expected) => {
    expect(parseClusterRequest(text, true)).toEqual(expected);
  });

  it.each(['', '3', 'A:1', 'a:0', 'a:10', 'a:x', '--nodes'])('"%s" is refused', (text) => {
    expect(() => parseClusterRequest(text, false)).toThrow('is not NAME:NODES');
  });
});
