/**
 * Makes a status item one that the hub reads: smaller than a frame, and within the bounds of each field. Of an object that
 * says more (a spec of a megabyte, a key of thousands of characters) less is told, and a condition says so. Without it
 * one such object would end every session of its agent, and nothing of all the others would be told any more.
 */
import type { Condition } from '#domain';
import { isReadableItem, PART_CONDITION } from '#protocol';
import type { StatusItem } from '#protocol';
import { isTellableField } from './is-tellable-field.ts';

const MESSAGE =
  'This object says more than the hub can be told, so its spec here, or fields that others changed in it, are not shown in full. ' +
  'Look at it in its member cluster: a value or a name in it is far too long.';

/** `since`: RFC 3339, for the condition that tells of it. */
export function fitStatusItem(item: StatusItem, maxBytes: number, since: string): StatusItem {
  const fits = (one: StatusItem): boolean =>
    isReadableItem(one) && Buffer.byteLength(JSON.stringify(one), 'utf8') <= maxBytes;
  if (fits(item)) return item;
  const told: Condition = {
    type: PART_CONDITION,
    status: 'True',
    reason: 'TooLarge',
    message: MESSAGE,
    observedGeneration: item.observedGeneration ?? 0,
    lastTransitionTime: since,
  };
  return [withoutSpec(item, told), withStates(item, told)].find(fits) ?? withNames(item, told);
}

function withoutSpec({ liveSpec: _, ...item }: StatusItem, told: Condition): StatusItem {
  const foreignFields = item.foreignFields.filter(isTellableField);
  return { ...item, foreignFields, conditions: [...item.conditions, told] };
}

function withStates(item: StatusItem, told: Condition): StatusItem {
  const { foreignFields: _fields, details: _details, numbers: _numbers, ...states } = withoutSpec(item, told);
  return { ...states, foreignFields: [] };
}

/** Its names are bounded by Kubernetes, its hubUid by `hubUidOf`. */
const withNames = (
  { hubUid, namespace, name, uid, kind, terminating, unclaimed }: StatusItem,
  told: Condition,
): StatusItem => ({
  ...(hubUid === undefined ? {} : { hubUid }),
  namespace,
  name,
  uid,
  kind,
  ...(terminating === undefined ? {} : { terminating }),
  ...(unclaimed === undefined ? {} : { unclaimed }),
  conditions: [told],
  pods: [],
  foreignFields: [],
});
