import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createChallenge,
  enrolSigningInput,
  generateKeyPair,
  helloSigningInput,
  keyRotationSigningInput,
  publicKeyOf,
  signInput,
  verifyInput,
} from './signing.ts';

const keys = generateKeyPair();

describe('signatures of the link', () => {
  it('are taken from the holder of the key and from nobody else', () => {
    const input = helloSigningInput(createChallenge(), 'hub:8444', 'agent-1');
    const signature = signInput(keys.privateKeyPem, input);
    expect(verifyInput(keys.publicKey, input, signature)).toBe(true);
    expect(verifyInput(generateKeyPair().publicKey, input, signature)).toBe(false);
  });

  it('cover the challenge, the audience and the agent id', () => {
    const signature = signInput(keys.privateKeyPem, helloSigningInput('c', 'hub:8444', 'agent-1'));
    for (const input of [
      helloSigningInput('d', 'hub:8444', 'agent-1'),
      helloSigningInput('c', 'other:8444', 'agent-1'),
      helloSigningInput('c', 'hub:8444', 'agent-2'),
    ]) {
      expect(verifyInput(keys.publicKey, input, signature)).toBe(false);
    }
  });

  it('never sign the same bytes for other parts or for another purpose', () => {
    const part = fc.string({ maxLength: 6 });
    fc.assert(
      fc.property(fc.tuple(part, part, part), fc.tuple(part, part, part), (a, b) => {
        const equalParts = a.every((text, index) => text === b[index]);
        const inputs = [helloSigningInput(...a), helloSigningInput(...b)].map((bytes) => Buffer.from(bytes).toString());
        expect(inputs[0] === inputs[1]).toBe(equalParts);
      }),
    );
    const rotation = Buffer.from(keyRotationSigningInput('a', 'b')).toString();
    const enrol = Buffer.from(
      enrolSigningInput({ challenge: 'a', audience: 'b', tokenHash: 'c', publicKey: 'd', fingerprint: 'e' }),
    ).toString();
    expect(rotation).toContain('key-rotation');
    expect(enrol).toContain('"atoll.v1/enrol"');
  });

  it('treat malformed keys and signatures as wrong, not as errors', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (key, signature) => {
        expect(verifyInput(key, Buffer.from('x'), signature)).toBe(false);
        expect(verifyInput(keys.publicKey, Buffer.from('x'), signature)).toBe(false);
      }),
    );
  });

  it('give back the public key of a private one, and refuse other keys', () => {
    expect(publicKeyOf(keys.privateKeyPem)).toBe(keys.publicKey);
    expect(() => publicKeyOf('no key')).toThrow();
  });
});
