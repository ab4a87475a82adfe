/**
 * The frames in ../recorded were written by protocol 1. They are never edited: a hub must read what an agent of a year
 * ago sends, and that agent must read what the hub says. A red test here means the wire format broke.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agentPayloadSchemas } from './agent-payload-schemas.ts';
import {
  digestOf,
  enrolSigningInput,
  helloSigningInput,
  keyRotationSigningInput,
  parseAgentFrame,
  parseHubFrame,
  specHash,
  tokenHash,
  verifyInput,
} from './index.ts';
import type { AgentMessage, Enrol, Hello, HubMessage, KeyRotation, StatusBatch } from './index.ts';
import { hubPayloadSchemas } from './hub-payload-schemas.ts';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../recorded/${name}`, import.meta.url), 'utf8'));
const agentFrames = read('protocol-1.agent.json') as AgentMessage[];
const hubFrames = read('protocol-1.hub.json') as HubMessage[];
const signed = read('protocol-1.signed.json') as Record<
  'challenge' | 'audience' | 'agentId' | 'token' | 'publicKey' | 'specText' | 'specHash' | 'digestOfGeneration3',
  string
>;

const payloadOf = <P>(type: string): P => agentFrames.find((frame) => frame.type === type)?.payload as P;

/** In the payload and in each item of its lists: batches are where agents of several releases differ. */
const withLaterFields = (payload: object): object => ({
  ...Object.fromEntries(
    Object.entries(payload).map(([name, value]: [string, unknown]) => [
      name,
      Array.isArray(value) ? value.map((item: unknown) => (isObject(item) ? { ...item, laterField: 1 } : item)) : value,
    ]),
  ),
  laterField: { a: 1 },
});
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

describe('frames recorded from protocol 1', () => {
  it.each(agentFrames.map((frame) => [frame.type, frame] as const))('reads the agent message %s whole', (_, frame) => {
    expect(parseAgentFrame(JSON.stringify(frame))).toEqual({ ok: true, message: frame });
  });

  it.each(hubFrames.map((frame) => [frame.type, frame] as const))('reads the hub message %s whole', (_, frame) => {
    expect(parseHubFrame(JSON.stringify(frame))).toEqual({ ok: true, message: frame });
  });

  it('has a recording of every message', () => {
    expect(agentFrames.map((frame) => frame.type).sort()).toEqual(Object.keys(agentPayloadSchemas).sort());
    expect(hubFrames.map((frame) => frame.type).sort()).toEqual(Object.keys(hubPayloadSchemas).sort());
  });

  it('ignores fields of a later minor version at every level', () => {
    for (const frame of hubFrames) {
      const later = { ...frame, trace: 'x', payload: { ...frame.payload, laterField: { a: 1 } } };
      expect(parseHubFrame(JSON.stringify(later))).toEqual({ ok: true, message: frame });
    }
    for (const frame of agentFrames) {
      const later = { ...frame, trace: 'x', payload: withLaterFields(frame.payload) };
      expect(parseAgentFrame(JSON.stringify(later)), frame.type).toEqual({ ok: true, message: frame });
    }
  });

  it('are understood by either side when the other one has words and details of a later release', () => {
    const batch = payloadOf<StatusBatch>('StatusBatch');
    const [first] = batch.items;
    const item = { ...first, phase: 'Later', details: { capabilities: ['later'], rollout: { later: 1 } } };
    const recorded = agentFrames.find(({ type }) => type === 'StatusBatch');
    const frame = { ...recorded, payload: { ...batch, items: [item] } };
    expect(parseAgentFrame(JSON.stringify(frame))).toEqual({ ok: true, message: frame });
  });
});

describe('signatures, hashes and digests recorded from protocol 1', () => {
  it('verifies the recorded Hello', () => {
    const input = helloSigningInput(signed.challenge, signed.audience, signed.agentId);
    expect(verifyInput(signed.publicKey, input, payloadOf<Hello>('Hello').signature)).toBe(true);
  });

  it('verifies the recorded Enrol', () => {
    const enrol = payloadOf<Enrol>('Enrol');
    const input = enrolSigningInput({
      challenge: signed.challenge,
      audience: signed.audience,
      tokenHash: tokenHash(signed.token),
      publicKey: enrol.publicKey,
      fingerprint: enrol.fingerprint,
    });
    expect(verifyInput(enrol.publicKey, input, enrol.signature)).toBe(true);
  });

  it('verifies the recorded KeyRotation', () => {
    const rotation = payloadOf<KeyRotation>('KeyRotation');
    const input = keyRotationSigningInput(rotation.newPublicKey, signed.agentId);
    expect(verifyInput(signed.publicKey, input, rotation.signature)).toBe(true);
  });

  it('computes the recorded spec hash and digest', () => {
    expect(specHash(signed.specText)).toBe(signed.specHash);
    const hubUid = '0192f3a0-7b1c-7c3e-9d2f-3b1f5a6c7d8e';
    expect(digestOf([{ hubUid, hubGeneration: 3, specHash: signed.specHash }])).toBe(signed.digestOfGeneration3);
  });
});
