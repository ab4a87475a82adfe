import { parseAgentFrame, parseHubFrame } from '#protocol';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findThawed, FROZEN_TYPES, type FrozenType, withoutOptional } from './frozen-messages.ts';

interface Recorded {
  readonly type: string;
  readonly nonce: string;
  readonly payload: Readonly<Record<string, unknown>>;
}
const read = (name: string): Recorded[] =>
  JSON.parse(readFileSync(new URL(`../../../protocol/recorded/${name}`, import.meta.url), 'utf8')) as Recorded[];
const frames = [...read('protocol-1.agent.json'), ...read('protocol-1.hub.json')];

const recorded = (type: FrozenType): Recorded => {
  const frame = frames.find((each) => each.type === type);
  if (frame === undefined) throw new Error(`nothing recorded of ${type}`);
  return frame;
};
const parse = (type: FrozenType, payload: object): boolean => {
  const frame = JSON.stringify({ type, nonce: 'n', payload });
  return parseAgentFrame(frame).ok || parseHubFrame(frame).ok;
};

describe.each(FROZEN_TYPES)('%s, frozen for ever', (type) => {
  const { payload } = recorded(type);

  it('is what was recorded', () => {
    expect(findThawed(type, payload)).toEqual([]);
  });

  it('is read today as it was sent by protocol 1, with nothing more asked of it', () => {
    const least = withoutOptional(type, payload);
    expect(findThawed(type, least)).toEqual([]);
    expect(parse(type, least)).toBe(true);
  });

  it('has no field that could be left out or come in addition', () => {
    for (const name of Object.keys(withoutOptional(type, payload))) {
      expect(findThawed(type, { ...payload, [name]: undefined }), name).not.toEqual([]);
      const { [name]: _, ...rest } = payload;
      expect(parse(type, rest), name).toBe(false);
    }
    expect(findThawed(type, { ...payload, later: 1 })).not.toEqual([]);
  });
});
