import { describe, expect, it } from 'vitest';
import { explainUnfitEnrol } from './enrol-shape.rules.ts';

const UID = '0f1d2c3b-0000-4000-8000-00000000000a';
const good = {
  fingerprint: `kubeSystemUid:${UID}`,
  agentVersion: '0.1.0',
  scope: { kind: 'CLUSTER' },
  instanceId: UID,
} as const;

describe('what an agent says of itself', () => {
  it.each([
    {},
    { fingerprint: `rootCa:${'0f'.repeat(32)}+ns:${UID}` },
    { agentVersion: '1.2.3-rc.1+build.5' },
    { scope: { kind: 'NAMESPACE', namespace: 'team-a' } as const },
  ])('may be shown: %j', (more) => {
    expect(explainUnfitEnrol({ ...good, ...more })).toBeUndefined();
  });

  it.each([
    ['a line break', { fingerprint: `kubeSystemUid:${UID}\nkubeSystemUid:other` }],
    ['an escape sequence of terminals', { fingerprint: `kubeSystemUid:\u001b[2K${UID}` }],
    ['a mark of direction', { fingerprint: `kubeSystemUid:\u202e${UID}` }],
    ['a letter of another script', { fingerprint: `kubеSystemUid:${UID}` }],
    ['a space without width', { fingerprint: `kubeSystemUid:${UID}\u200b` }],
    ['spaces that pad it', { fingerprint: `kubeSystemUid:${UID}    ` }],
    ['nothing behind its kind', { fingerprint: 'kubeSystemUid:' }],
    ['too many characters', { fingerprint: `kubeSystemUid:${'a'.repeat(300)}` }],
    ['a version of control characters', { agentVersion: '0.1.0\u0007' }],
    ['a version that is a sentence', { agentVersion: '0.1.0 approved by ana' }],
    ['a version without end', { agentVersion: '1'.repeat(65) }],
    ['a namespace of another script', { scope: { kind: 'NAMESPACE', namespace: 'tеam' } as const }],
    ['an instance with a mark of direction', { instanceId: `a\u202eb` }],
  ])('is refused with %s', (_what, more) => {
    const found = explainUnfitEnrol({ ...good, ...more });
    expect(found).toMatch(/^[\x20-\x7e]+$/);
  });
});
