/**
 * Whether what an agent says of itself may be put before the person who approves it. The person compares a fingerprint with
 * that of the member cluster; one with control characters, marks of direction or letters of other scripts looks like
 * another than it is. Agents of every release send these shapes.
 */
import type { Enrol } from '#protocol';

const MOST_FINGERPRINT_CHARACTERS = 256;
/** `kubeSystemUid:UID`, or `rootCa:SHA-256+ns:UID`. */
const FINGERPRINT = /^[A-Za-z][A-Za-z0-9]*:[A-Za-z0-9-]+(\+[A-Za-z][A-Za-z0-9]*:[A-Za-z0-9-]+)*$/;
/** As npm and Helm write it. */
const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$/;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const INSTANCE = /^[\x21-\x7e]{1,128}$/;

type Shown = Pick<Enrol, 'fingerprint' | 'agentVersion' | 'scope' | 'instanceId'>;

/** What is wrong, in words that repeat nothing of it; undefined when nothing is. */
export function explainUnfitEnrol({ fingerprint, agentVersion, scope, instanceId }: Shown): string | undefined {
  if (fingerprint.length > MOST_FINGERPRINT_CHARACTERS || !FINGERPRINT.test(fingerprint)) {
    return `a fingerprint has the form kubeSystemUid:UID or rootCa:HASH+ns:UID and at most ${MOST_FINGERPRINT_CHARACTERS} characters`;
  }
  if (!VERSION.test(agentVersion)) return 'a version has at most 64 letters, digits, dots, - and +';
  if (scope.kind === 'NAMESPACE' && !NAMESPACE.test(scope.namespace))
    return 'the scope names no namespace of Kubernetes';
  return INSTANCE.test(instanceId) ? undefined : 'an instanceId has at most 128 printable characters';
}
