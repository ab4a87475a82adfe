/**
 * The rule at the root of RedisCluster that refuses an engine older than what a primary of the data set has run: it may
 * not read what that one wrote. It stands at the root, where spec and status are both seen, and works with no agent.
 */
import type { Rule } from './schema-parts.ts';

const major = (version: string) => `int(${version}.split('.')[0])`;
const minor = (version: string) => `int(${version}.split('.')[1])`;
const patch = (version: string) => `int(${version}.split('.')[2])`;
const WANTED = 'self.spec.engine.version';
const RAN = 'self.status.primaryVersion';
/** Until 0.2.0 the engine could not change and was not recorded. */
const RAN_ENGINE = '(has(self.status.primaryEngine) ? self.status.primaryEngine : oldSelf.spec.engine.type)';

export const NO_OLDER_VERSION: Rule = {
  // Only a change of the version is judged: a tag that moved to a newer patch must never block a status update. Versions
  // of two engines do not compare: whether one engine reads what the other wrote is judged by the planner.
  rule:
    `${WANTED} == oldSelf.spec.engine.version || !has(self.status) || !has(${RAN}) || ` +
    `self.spec.engine.type != ${RAN_ENGINE} || ` +
    `!${RAN}.matches('^[0-9]+[.][0-9]+[.][0-9]+$') || ` +
    `${major(WANTED)} > ${major(RAN)} || (${major(WANTED)} == ${major(RAN)} && (${minor(WANTED)} > ${minor(RAN)} || ` +
    `(${minor(WANTED)} == ${minor(RAN)} && (${WANTED}.split('.').size() < 3 || ${patch(WANTED)} >= ${patch(RAN)}))))`,
  message: 'engine.version is older than what a primary of this data set has run (status.primaryVersion).',
  fieldPath: '.spec.engine.version',
};
