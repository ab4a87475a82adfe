import { describe, expect, it } from 'vitest';

import { checkEnrolment, formatInstallCommand } from './enrolment.rules.ts';

const input = { name: 'eu-1', labels: {}, scope: 'CLUSTER' } as const;
const longText = 'x'.repeat(64);
const manyLabels = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`label-${index}`, 'x']));
const hubs = ['hub:8444'];

describe('an enrolment', () => {
  it.each([
    ['a good name', input, undefined],
    ['a name with capitals', { ...input, name: 'EU' }, ['input', 'name']],
    ['a wrong label', { ...input, labels: { region: 'a b' } }, ['input', 'labels', 'region']],
    ['a label of a domain', { ...input, labels: { 'team.example/tier': 'Test_1.x', empty: '' } }, undefined],
    ['a key whose domain is none', { ...input, labels: { '-a..b/tier': 'x' } }, ['input', 'labels', '-a..b/tier']],
    ['a key too long', { ...input, labels: { [longText]: 'x' } }, ['input', 'labels', longText]],
    ['a value too long', { ...input, labels: { tier: longText } }, ['input', 'labels', 'tier']],
    ['as many labels as may be', { ...input, labels: manyLabels(64) }, undefined],
    ['one label more', { ...input, labels: manyLabels(65) }, ['input', 'labels']],
    ['a region', { ...input, region: 'eu-central-1' }, undefined],
    ['a region too long', { ...input, region: longText }, ['input', 'region']],
    ['a region of two lines', { ...input, region: 'eu\nus' }, ['input', 'region']],
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
