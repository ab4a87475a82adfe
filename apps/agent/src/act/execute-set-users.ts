/** Makes users of one server what the credentials Secret, read now, and the spec say; see libs/redis, acl-commands. */
import type { Executor } from './execution-context.ts';
import { requireLink, throwIfRefused } from './execution-context.ts';
import { readCredentials } from './read-credentials.ts';

export const executeSetUsers: Executor<'SetUsers'> = async ({ pod, component, users, remove = [] }, context) => {
  const link = requireLink(component === 'redis' ? context.findRedis(pod) : context.findSentinel(pod), pod);
  const { values } = await readCredentials(context);
  const expectation = context.aclExpectation(context.resource, component, values);
  context.assertMayWrite();
  throwIfRefused(await link.setUsers(expectation, users, remove));
};
