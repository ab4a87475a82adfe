import { describe, expect, it } from 'vitest';

import { checkEnrolment, formatInstallCommand } from './enrolment.rules.ts';

const input = { name: 'eu-1', labels: {}, scope: 'CLUSTER' } as const;
const hubs = ['hub:8444'];

describe('an enrolment', () => {
  it.each([
    ['a good name', input, undefined],
    ['a name with capitals', { ...input, name: 'EU' }, ['input', 'name']],
    ['a wrong label', { ...input, labels: { region: 'a b' } }, ['input', 'labels', 'region']],
    ['a namespace without its scope', { ...input, namespace: 'team' }, ['input', 'namespace']],
    ['a scope without its namespace', { ...input, scope: 'NAMESPACE' as const }, ['input', 'namespace']],
    ['an address that is not the hub’s', { ...input, hubAddress: 'evil:1' }, ['input', 'hubAddress']],
  ])('with %s', (_, given, field) => {
    const checked = checkEnrolment(given, hubs);
    expect(checked.ok ? undefined : checked.errors[0]?.field).toEqual(field);
  });

  it('comes with a command that any shell reads as one', () => {
    const caCertificate = '-----BEGIN CERTIFICATE-----\nAB+/=\n-----END CERTIFICATE-----\n';
    const command = formatInstallCommand({ hubAddress: 'hub:8444', token: 'atoll_x', caCertificate, scope: 'CLUSTER' });
    expect(command).toMatch(/^helm install atoll-agent /);
    expect(command).toContain("--set-string 'hub.ca=-----BEGIN CERTIFICATE-----\nAB+/=\n-----END CERTIFICATE-----'");
  });
});
