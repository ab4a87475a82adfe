/** Which users lose their way in by a changed spec: those that go or get other rules, and all when the password changes hands. */
import type { RedisClusterSpec } from '#domain';

const secretOf = ({ auth }: RedisClusterSpec): string =>
  auth?.secretRef === undefined ? '' : `${auth.secretRef.name}/${auth.secretRef.key ?? 'password'}`;

/** Half a sentence, or undefined when nobody loses anything. */
export const describeLostAccess = (before: RedisClusterSpec, after: RedisClusterSpec): string | undefined => {
  if (secretOf(before) !== secretOf(after)) return 'another password for the application';
  const rules = new Map((after.auth?.users ?? []).map((user) => [user.name, user.rules]));
  const lost = (before.auth?.users ?? []).filter((user) => rules.get(user.name) !== user.rules);
  return lost.length === 0 ? undefined : `users removed or changed: ${lost.map(({ name }) => name).join(', ')}`;
};
