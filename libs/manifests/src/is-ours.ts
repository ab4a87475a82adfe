/**
 * Whether an object that bears the name of a child was made for this RedisCluster. Decided from its labels, and from
 * whether an agent applied it before: a label taken off by hand is put back. What is not ours is neither written nor
 * deleted nor read as a child; without this a stranger's Secret would be waited for, and its refusal repeated, for ever.
 */
import { FIELD_MANAGER, LABEL } from '#domain';
import type { KubeObject } from '#domain';

/** `name` of the RedisCluster. `live` with its managedFields. */
export const isOurs = (live: KubeObject, name: string): boolean => carriesOurLabels(live, name) || wasApplied(live);

/** Of an earlier data set of the same name too: its Services are taken over by its successor. */
const carriesOurLabels = ({ metadata: { labels = {} } }: KubeObject, name: string): boolean =>
  labels[LABEL.managedBy] === 'atoll' && labels[LABEL.instance] === name && labels[LABEL.dataSet] !== undefined;

const wasApplied = ({ metadata: { managedFields = [] } }: KubeObject): boolean =>
  managedFields.some(({ manager, operation }) => manager === FIELD_MANAGER.operator && operation === 'Apply');
