import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

  describe('comes with a command', () => {
    const caCertificate = '-----BEGIN CERTIFICATE-----\nAB+/=\n-----END CERTIFICATE-----\n';
    const command = formatInstallCommand({ hubAddress: 'hub:8444', caCertificate, scope: 'CLUSTER' });
    /** What the programs are called with, by a real shell, and what the one that makes the Secret reads. */
    const run = (): { readonly calls: readonly (readonly string[])[]; readonly token: string } => {
      const folder = mkdtempSync(join(tmpdir(), 'install-command-'));
      const script = [
        `note() { printf '%s\\0' "$@" >> calls; printf '\\n\\0' >> calls; }`,
        `kubectl() { note kubectl "$@"; case "$*" in *secret*) cat /dev/stdin > token ;; *-f*) cat > /dev/null ;; esac; }`,
        `helm() { note helm "$@"; }`,
        command,
      ].join('\n');
      execFileSync('sh', ['-c', script], { cwd: folder, input: 'atoll_secret\n' });
      const words = readFileSync(join(folder, 'calls'), 'utf8').split('\0');
      const token = readFileSync(join(folder, 'token'), 'utf8');
      rmSync(folder, { recursive: true });
      return { calls: splitAt(words, '\n'), token };
    };

    it('that has the token of standard input and no argument, and installs with the Secret of that', () => {
      const { calls, token } = run();
      expect(token.trim()).toBe('atoll_secret');
      expect(command).not.toContain('atoll_secret');
      expect(calls.filter(([program]) => program === 'helm')).toEqual([
        [
          ...['helm', 'install', 'atoll-agent', 'helm/atoll-agent', '--namespace', 'atoll-system'],
          ...[
            '--set',
            'hub.address=hub:8444',
            '--set',
            'hub.existingSecret=atoll-agent-enrolment',
            '--set',
            'scope=cluster',
          ],
        ],
      ]);
      const secret = calls.find((call) => call.includes('secret')) ?? [];
      expect(secret).toContain('--from-file=token=/dev/stdin');
      expect(secret).toContain(`--from-literal=ca.crt=${caCertificate.trim()}`);
    });
  });
});

const splitAt = (words: readonly string[], end: string): readonly (readonly string[])[] => {
  const lists: string[][] = [[]];
  for (const word of words) {
    if (word === end) lists.push([]);
    else if (word !== '') lists.at(-1)?.push(word);
  }
  return lists.filter((list) => list.length > 0);
};
