import { describe, expect, it } from 'vitest';
import { parseDemoOptions } from './demo-options.ts';

describe('parseDemoOptions', () => {
  it('starts local clusters and stays up by default', () => {
    expect(parseDemoOptions([])).toEqual({ exit: false, json: false, contexts: [] });
  });
  it('takes several contexts of one kubeconfig', () => {
    const args = [
      '--kubeconfig',
      'f',
      '--context',
      'a',
      '--context',
      'b',
      '--hub-address',
      'h',
      '--agent-image',
      'r:t',
      '--exit',
    ];
    expect(parseDemoOptions(args)).toEqual({
      exit: true,
      json: false,
      kubeconfig: 'f',
      contexts: ['a', 'b'],
      hubAddress: 'h',
      agentImage: 'r:t',
    });
  });
  it.each([
    [['--context', 'a'], /--kubeconfig/],
    [['--kubeconfig', 'f'], /--context/],
    [['--no-such'], /no-such/],
  ])('refuses %j', (args, message) => {
    expect(() => parseDemoOptions(args)).toThrow(message);
  });
});
