import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeFrame,
  MAX_FRAME_BYTES,
  MAX_HANDSHAKE_FRAME_BYTES,
  MAX_TOLERATED_FRAME_BYTES,
  parseAgentFrame,
  parseHubFrame,
} from './frame.ts';
import type { ParseResult } from './frame.ts';
import type { HubMessage } from './envelopes.ts';

const errorOf = (result: ParseResult<unknown>): unknown => (result.ok ? 'no error' : result.error);

const upsert = {
  hubUid: 'u1',
  hubGeneration: 1,
  specHash: 'a'.repeat(64),
  namespace: 'shop',
  name: 'cart',
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  spec: '{}',
  create: true,
  adopt: false,
  driftPolicy: 'Report' as const,
};
const delta = (changes: object): string =>
  JSON.stringify({
    type: 'Delta',
    nonce: '1',
    payload: { revision: 1, upserts: [{ ...upsert, ...changes }], tombstones: [] },
  });

describe('frames', () => {
  it('come back as they were encoded', () => {
    const message: HubMessage = {
      type: 'Delta',
      nonce: '7',
      payload: { revision: 9, upserts: [upsert], tombstones: [] },
    };
    expect(parseHubFrame(encodeFrame(message))).toEqual({ ok: true, message });
    expect(parseHubFrame(Buffer.from(encodeFrame(message)))).toEqual({ ok: true, message });
  });

  it.each([
    ['a generation that is no positive integer', delta({ hubGeneration: 1.5 }), 'payload.upserts.0.hubGeneration'],
    ['a generation of zero', delta({ hubGeneration: 0 }), 'payload.upserts.0.hubGeneration'],
    ['a hash that is no SHA-256', delta({ specHash: 'abc' }), 'payload.upserts.0.specHash'],
    ['a spec that is no text', delta({ spec: {} }), 'payload.upserts.0.spec'],
    ['an empty name', delta({ name: '' }), 'payload.upserts.0.name'],
    ['a missing field', delta({ create: undefined }), 'payload.upserts.0.create'],
    ['a word that is not known', delta({ driftPolicy: 'Force' }), 'payload.upserts.0.driftPolicy'],
    ['a payload that is no object', '{"type":"Delta","nonce":"1","payload":3}', 'payload'],
    ['no nonce', '{"type":"Delta","payload":{}}', 'nonce'],
  ])('with %s are refused, and the error names the place', (_, text, path) => {
    expect(errorOf(parseHubFrame(text))).toMatchObject({ code: 'INVALID_MESSAGE', path });
  });

  it('of an unknown type, or of the other direction, have an error code of their own', () => {
    for (const type of ['Tomorrow', 'Hello', 'toString', '__proto__']) {
      const text = JSON.stringify({ type, nonce: '1', payload: {} });
      expect(errorOf(parseHubFrame(text))).toMatchObject({ code: 'UNKNOWN_TYPE' });
    }
  });

  it('over the limit are refused before they are parsed, in bytes and not in characters', () => {
    const text = 'é'.repeat(MAX_HANDSHAKE_FRAME_BYTES / 2 + 1);
    expect(errorOf(parseAgentFrame(text, MAX_HANDSHAKE_FRAME_BYTES))).toMatchObject({ code: 'FRAME_TOO_LARGE' });
    expect(errorOf(parseAgentFrame(text))).toMatchObject({ code: 'INVALID_JSON' });
    expect(errorOf(parseAgentFrame(Buffer.alloc(MAX_FRAME_BYTES + 1)))).toMatchObject({ code: 'FRAME_TOO_LARGE' });
  });

  it('never quote what was received', () => {
    const texts = ['{"type":"Enrol","nonce":"1","payload":{"token":"canary-4711","publicKey":7}}', 'canary-4711{'];
    for (const text of texts) expect(JSON.stringify(parseAgentFrame(text))).not.toContain('canary-4711');
  });

  it('nested too deeply in a live spec are read without it', () => {
    const deep = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
    const item = (liveSpec: string): string =>
      `{"type":"StatusBatch","nonce":"1","payload":{"counter":0,"items":[{"namespace":"n","name":"x","uid":"u","kind":"RedisCluster","conditions":[],"pods":[],"foreignFields":[],"liveSpec":${liveSpec}}]}}`;
    expect(parseAgentFrame(item(deep(30))).ok).toBe(true);
    for (const levels of [5_000, 250_000]) {
      const result = parseAgentFrame(item(deep(levels)), MAX_TOLERATED_FRAME_BYTES);
      expect(result).toMatchObject({ ok: true, partlyRead: [{ name: 'x', fields: ['liveSpec'] }] });
      expect(JSON.stringify(result)).not.toContain('"a"');
    }
  });

  it('of an agent lose what no database can hold, in texts and in names, and nothing else', () => {
    const event = { namespace: 'shop', name: 'cart', severity: 'Normal', first: '', last: '', count: 1 } as const;
    const text = 'nul \0, half a pair \ud800, a whole one \ud83e\udd84, "\\\\u0000"';
    const payload = { counter: 0, items: [{ ...event, reason: 'R', message: text }] };
    const parsed = parseAgentFrame(JSON.stringify({ type: 'EventBatch', nonce: '1', payload }));
    const message = 'nul \ufffd, half a pair \ufffd, a whole one \ud83e\udd84, "\\\\u0000"';
    expect(parsed).toMatchObject({ ok: true, message: { payload: { items: [{ message }] } } });
    const status = { namespace: 'a', name: 'b', uid: 'c', kind: 'K', conditions: [], pods: [], foreignFields: [] };
    const items = [{ ...status, numbers: { 'a\0': 1 } }];
    const batch = parseAgentFrame(JSON.stringify({ type: 'StatusBatch', nonce: '1', payload: { counter: 0, items } }));
    expect(batch).toMatchObject({ ok: true, message: { payload: { items: [{ numbers: { 'a\ufffd': 1 } }] } } });
  });

  it('of any shape are answered, never thrown at', () => {
    const type = fc.constantFrom('Hello', 'DesiredAck', 'StatusBatch', 'Enrol', 'Delta', 'Welcome', 'SnapshotEnd');
    fc.assert(
      fc.property(type, fc.jsonValue(), (name, payload) => {
        const text = JSON.stringify({ type: name, nonce: '1', payload });
        for (const result of [parseAgentFrame(text), parseHubFrame(text)]) {
          if (!result.ok) expect(result.error.code).toMatch(/^(UNKNOWN_TYPE|INVALID_MESSAGE)$/);
        }
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => typeof parseAgentFrame(text).ok === 'boolean'));
  });
});
