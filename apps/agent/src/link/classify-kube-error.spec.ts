import { KubeError } from '#kube';
import { describe, expect, it } from 'vitest';
import { MemberApiDownError, isMissingNamespace, outcomeOfError } from './classify-kube-error.ts';

const target = { hubUid: 'u1', hubGeneration: 2 };
const answered = (code: number, message: string, details: object = {}): KubeError =>
  new KubeError({ code, reason: 'R', message: `PATCH /x: ${message}`, status: { code, message, details } });

describe('an answer of the API server about an object', () => {
  it.each([
    ['CEL', answered(422, 'spec.size: must be 1'), 'REJECTED SPEC_REJECTED false'],
    ['a bad request', answered(400, 'bad'), 'REJECTED SPEC_REJECTED false'],
    ['RBAC or a webhook', answered(403, 'forbidden'), 'REJECTED NOT_PERMITTED_HERE false'],
    ['an unknown field', answered(500, 'failed: .spec.x: field not declared in schema'), 'REJECTED CRD_TOO_OLD false'],
    [
      'another type',
      answered(500, 'failed to create typed patch object (a): .spec.size: expected numeric'),
      'REJECTED SPEC_REJECTED false',
    ],
    [
      'a namespace that goes',
      answered(403, 'being terminated', { causes: [{ reason: 'NamespaceTerminating' }] }),
      'WAITING NAME_TAKEN true',
    ],
    ['a kind that is not served now', answered(404, '404 page not found'), 'WAITING CRD_TOO_OLD true'],
  ])('%s', (_, error, expected) => {
    const { state, code, retryable, message } = outcomeOfError(error, target);
    expect(`${state} ${code} ${retryable}`).toBe(expected);
    expect(message).toBe(error.status?.message);
  });

  it.each([
    ['a server error', answered(500, 'etcd is away')],
    ['throttling', answered(429, 'slow down')],
    ['an expired token', answered(401, 'Unauthorized')],
    ['a gateway', answered(503, 'unavailable')],
    ['a conflict that was not resolved', answered(409, 'modified')],
    ['no answer', new KubeError({ message: 'timed out', reason: 'TIMEOUT' })],
  ])('%s is none: the object stays unprocessed', (_, error) => {
    expect(() => outcomeOfError(error, target)).toThrow(MemberApiDownError);
  });

  it('is never made up from a fault of our own', () => {
    expect(() => outcomeOfError(new TypeError('x'), target)).toThrow(TypeError);
  });

  it('tells a missing namespace from a missing kind', () => {
    expect(isMissingNamespace(answered(404, 'namespaces "x" not found', { kind: 'namespaces' }))).toBe(true);
    expect(isMissingNamespace(answered(404, '404 page not found'))).toBe(false);
  });
});
