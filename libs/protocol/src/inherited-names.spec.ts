/** A name that one side drops and the other counts makes their digests differ for ever: every name is carried as it is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INHERITED_NAMES } from '#domain';
import { canonicalJson, freezeSpec } from './canonical-json.ts';
import { encodeFrame, parseAgentFrame, parseHubFrame } from './frame.ts';
import type { StatusItem } from './messages.ts';
import { itemHash, statusHash } from './status-hash.ts';

const names = fc.constantFrom(...INHERITED_NAMES);
const mapOf = <Value>(name: string, value: Value): Record<string, Value> =>
  JSON.parse(`{"${name}":${JSON.stringify(value)}}`) as Record<string, Value>;

const item: StatusItem = {
  namespace: 'shop',
  name: 'cart',
  uid: 'k1',
  kind: 'RedisCluster',
  conditions: [],
  pods: [],
  foreignFields: [],
};

describe('a name that every object inherits', () => {
  it('arrives in every map of a status, with the same hashes on both sides', () => {
    fc.assert(
      fc.property(names, (name) => {
        const sent = {
          ...item,
          endpoints: mapOf(name, 'x'),
          numbers: mapOf(name, 1),
          details: { config: mapOf(name, 'x') },
          liveSpec: { config: mapOf(name, 'x') },
          foreignFields: [{ path: `spec.config.${name}`, manager: 'm', liveValue: '"x"' }],
        } as unknown as StatusItem;
        const frame = encodeFrame({
          type: 'StatusBatch',
          nonce: '1',
          payload: { counter: 1, items: [sent], complete: true },
        } as never);
        const read = parseAgentFrame(frame);
        if (!read.ok) throw new Error(JSON.stringify(read.error));
        const [received] = (read.message.payload as unknown as { items: StatusItem[] }).items;
        expect(canonicalJson(received)).toBe(canonicalJson(sent));
        expect([itemHash(received as StatusItem), statusHash(received as StatusItem)]).toEqual([
          itemHash(sent),
          statusHash(sent),
        ]);
      }),
    );
  });

  it('is part of the hash of a spec', () => {
    fc.assert(
      fc.property(names, (name) => {
        const frozen = freezeSpec({ config: mapOf(name, 'x') });
        expect(frozen.text).toBe(`{"config":{"${name}":"x"}}`);
        expect(freezeSpec(JSON.parse(frozen.text))).toEqual(frozen);
      }),
    );
  });

  it('is no type of a message', () => {
    fc.assert(
      fc.property(names, (type) => {
        const frame = JSON.stringify({ type, nonce: '1', payload: {} });
        expect([parseAgentFrame(frame).ok, parseHubFrame(frame).ok]).toEqual([false, false]);
      }),
    );
  });
});
