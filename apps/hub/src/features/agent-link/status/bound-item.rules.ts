/**
 * How many bytes the status of one object may take in the database. A frame holds a megabyte, and all of it may be one item:
 * with some thousand objects an agent would fill a disk. The parts that are least needed go first; what is left says so in
 * a condition of its own. Who an object is, and its states, always stay.
 */
import { MAX_OBJECT_BYTES } from '#domain';
import { PART_CONDITION, type StatusItem, WHAT_TO_DO } from '#protocol';

export const MAX_ITEM_BYTES = MAX_OBJECT_BYTES;
/** Least needed first, with what stands in their place. */
const SHED: readonly (readonly [keyof StatusItem, unknown])[] = [
  ['liveSpec', undefined],
  ['foreignFields', []],
  ['details', undefined],
  ['numbers', undefined],
  ['endpoints', undefined],
  ['pods', []],
  ['conditions', []],
];

export interface BoundItem {
  readonly item: StatusItem;
  /** Names of the parts that are left out. */
  readonly shed: readonly string[];
}

const bytesOf = (item: StatusItem): number => Buffer.byteLength(JSON.stringify(item), 'utf8');

export function boundItem(whole: StatusItem, mostBytes = MAX_ITEM_BYTES): BoundItem {
  const shed: string[] = [];
  let item = whole;
  for (const [name, instead] of SHED) {
    if (bytesOf(item) <= mostBytes) break;
    const value = item[name];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    const { [name]: _left, ...others } = item;
    item = (instead === undefined ? others : { ...others, [name]: instead }) as StatusItem;
    shed.push(name);
  }
  return shed.length === 0
    ? { item, shed }
    : { item: { ...item, conditions: [...item.conditions, tellOf(item, shed)] }, shed };
}

const tellOf = (item: StatusItem, shed: readonly string[]): StatusItem['conditions'][number] => ({
  type: PART_CONDITION,
  status: 'True',
  reason: 'TooLarge',
  message: `What its agent tells of this object is more than ${MAX_ITEM_BYTES} bytes, so that ${shed.join(', ')} of it is not shown. ${WHAT_TO_DO}`,
  observedGeneration: item.observedGeneration ?? 0,
  lastTransitionTime: '',
});
