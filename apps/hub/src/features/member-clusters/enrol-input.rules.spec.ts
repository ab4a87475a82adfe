import { describe, expect, it } from 'vitest';
import { readEnrolInput } from './enrol-input.rules.ts';
import type { EnrolMemberClusterInput } from './member-cluster.inputs.ts';

const input = (more: Partial<EnrolMemberClusterInput>): EnrolMemberClusterInput => ({
  name: 'eu-1',
  scope: 'CLUSTER',
  ...more,
});

describe('what an enrolment asks for', () => {
  it('has no nulls', () => {
    const outcome = readEnrolInput(
      input({ region: null, namespace: null, hubAddress: 'hub:8444', labels: { tier: 'test' } }),
    );
    expect(outcome).toEqual({
      ok: true,
      value: { name: 'eu-1', labels: { tier: 'test' }, scope: 'CLUSTER', hubAddress: 'hub:8444' },
    });
  });
  it.each([[{ tier: 1 }], [['a']], ['tier=test'], [{ a: { b: 'c' } }]])('refuses labels of %j', (labels) => {
    const outcome = readEnrolInput(input({ labels }));
    expect(outcome.ok ? undefined : outcome.errors[0]?.field).toEqual(['input', 'labels']);
  });
});
