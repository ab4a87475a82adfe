/** spec.auth: names and rules of users, references to Secrets, and how long an old password stays valid. */
import { explainAclRules } from './judge-acl-rules.ts';
import { parseDurationMs } from './parse-duration.ts';
import { isInheritedName } from './own-value.ts';
import { isDnsSubdomain } from './pod-field-grammar.ts';
import { REFUSED_USER_NAMES, type AclUserSpec, type AuthSpec, type SecretKeyRef } from './redis-cluster-spec.ts';
import { SPEC_LIMITS, specProblem, type SpecProblem } from './spec-problem.ts';

const MIN_GRACE_PERIOD_MS = 180_000;
const MAX_GRACE_PERIOD_MS = 604_800_000;
const USER_NAME = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
/** As the CRD has it: nothing that could end the line in an ACL file. */
const RULES = /^[ !#-&(-[\]-~]*$/;
const SECRET_KEY = /^[-._a-zA-Z0-9]{1,253}$/;

export const validateAuth = (auth: AuthSpec): SpecProblem[] => [
  ...(auth.secretRef === undefined ? [] : validateSecretRef('auth/secretRef', auth.secretRef)),
  ...validateGracePeriod(auth.rotation?.gracePeriod),
  ...validateUsers(auth.users ?? []),
];

const validateSecretRef = (path: string, { name, key }: SecretKeyRef): SpecProblem[] => [
  ...(isDnsSubdomain(name)
    ? []
    : [specProblem(`${path}/name`, 'INVALID_SECRET_REF', `${name} is no name of a Secret.`)]),
  ...(key === undefined || SECRET_KEY.test(key)
    ? []
    : [specProblem(`${path}/key`, 'INVALID_SECRET_REF', `${key} is no key of a Secret.`)]),
];

const validateGracePeriod = (text: string | undefined): SpecProblem[] => {
  if (text === undefined) return [];
  const ms = parseDurationMs(text) ?? 0;
  if (ms >= MIN_GRACE_PERIOD_MS && ms <= MAX_GRACE_PERIOD_MS) return [];
  const message = `${text} is not from 3m to 168h: a projected Secret reaches a pod up to two minutes late.`;
  return [specProblem('auth/rotation/gracePeriod', 'INVALID_DURATION', message)];
};

const validateUsers = (users: readonly AclUserSpec[]): SpecProblem[] => {
  if (users.length > SPEC_LIMITS.maxUsers) {
    return [specProblem('auth/users', 'INVALID_USER', `At most ${SPEC_LIMITS.maxUsers} users are accepted.`)];
  }
  return users.flatMap((user, index) => {
    const path = `auth/users/${index}`;
    const isRepeated = users.findIndex(({ name }) => name === user.name) < index;
    const name = isRepeated ? `${user.name} stands here twice; remove one.` : explainUserName(user.name);
    const rules = explainRules(user.rules);
    return [
      ...(name === undefined ? [] : [specProblem(`${path}/name`, 'INVALID_USER', name)]),
      ...(rules === undefined ? [] : [specProblem(`${path}/rules`, 'INVALID_USER', rules)]),
      ...(user.secretRef === undefined ? [] : validateSecretRef(`${path}/secretRef`, user.secretRef)),
    ];
  });
};

/** The Secret of a user is called `<name>-user-<user>`: two RedisClusters must never mean one Secret. */
const explainUserName = (name: string): string | undefined => {
  if (REFUSED_USER_NAMES.includes(name)) return `${name} is a user of the operator; choose another name.`;
  if (isInheritedName(name)) return `${name} is a name that every object has by itself; choose another name.`;
  if (!USER_NAME.test(name) || name.length > SPEC_LIMITS.maxUserNameLength) {
    return `${name} is no name of a user: a-z, 0-9 and -, beginning with a letter, at most ${SPEC_LIMITS.maxUserNameLength}.`;
  }
  if (!/-user-|-(?:connection|credentials)$/.test(name)) return undefined;
  return `${name}: a name may not hold -user- nor end in -connection or -credentials: Secrets are called so.`;
};

const explainRules = (rules: string): string | undefined => {
  if (rules.length === 0 || rules.length > SPEC_LIMITS.maxUserRulesLength || !RULES.test(rules)) {
    return `Rules are one line of 1 to ${SPEC_LIMITS.maxUserRulesLength} plain characters, without quotes or backslash.`;
  }
  return explainAclRules(rules);
};
