/**
 * Reads the lists of an agent's message item by item, once the message as a whole could not be read. What people wrote into
 * an object of a member cluster goes into an item; agents of release 0.1.0 do not look whether a hub reads it, and one such
 * annotation or text would end every session of its agent, and silence all its other objects. So a field that cannot be
 * read is left out, a text is cut, an item without a readable identity is left out, and each is named. What is not
 * an item (counter, digest, revision) has to be right, and what nobody sent is never made up: an item says less, not else.
 */
import { ownValue } from '#domain';
import * as v from 'valibot';
import { eventItem, guestItem, inventoryObject, objectOutcome, statusItem } from './agent-payload-schemas.ts';
import { PART_CONDITION } from './copied-condition.ts';
import * as field from './field-schemas.ts';
import type { StatusItem } from './messages.ts';

/** An item that was read in part, or not at all. */
export interface PartlyRead {
  readonly hubUid?: string;
  readonly namespace: string;
  readonly name: string;
  /** Names of the fields that could not be read as they were. */
  readonly fields: readonly string[];
  /** False: nothing of the item counts. */
  readonly kept: boolean;
}

export interface PartialReading {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly partlyRead: readonly PartlyRead[];
}

type Fields = Readonly<Record<string, unknown>>;

interface ItemKind {
  /** Field of the payload that holds the items. */
  readonly list: string;
  readonly schema: v.GenericSchema & { readonly entries: Readonly<Record<string, v.GenericSchema>> };
  /** What a field means when it is lost. */
  readonly lost?: Fields;
  /** Fields that an item too large for a frame goes without, the least needed first. */
  readonly shed?: readonly string[];
  /** Says in the item itself that it is a part. */
  readonly mark?: (item: Fields, fields: readonly string[]) => Fields;
}

/** More items of one frame of which nothing counts: no object of people, but an agent that speaks something else. */
const MAX_UNREADABLE = 1_000;
const MAX_NAME_BYTES = 253;
/**
 * Elements of lists inside the items of one frame that are looked at one by one; a list beyond it is left out. Nothing in a
 * member cluster has so many, and each costs time in which no other agent is heard.
 */
const MAX_ELEMENTS = 10_000;

const ELEMENTS: Readonly<Record<string, v.GenericSchema>> = {
  conditions: field.condition,
  pods: field.podStatus,
  foreignFields: field.foreignField,
  contested: field.foreignField,
};
/** Texts for people, with the bytes of them that are read. */
const TEXTS: Readonly<Record<string, number>> = { message: field.MAX_LONG_TEXT, reason: field.MAX_SHORT_TEXT };

const KINDS: Readonly<Record<string, ItemKind>> = {
  StatusBatch: {
    list: 'items',
    schema: statusItem,
    lost: { conditions: [], pods: [], foreignFields: [] },
    shed: ['liveSpec', 'foreignFields', 'details', 'pods', 'conditions'],
    mark: (item, fields) => markStatus(item as never, fields) as never,
  },
  EventBatch: { list: 'items', schema: eventItem, lost: { first: '', last: '', count: 1 } },
  DesiredAck: { list: 'outcomes', schema: objectOutcome, shed: ['contested'] },
  InventoryChunk: { list: 'objects', schema: inventoryObject, lost: { hubGeneration: 0, specHash: '' } },
};

/**
 * Undefined: the message cannot be read in part either. The rest of the payload is left as it is, and still to be read.
 * `maxItemBytes`: set for a frame that is too large as a whole; an item above it says less.
 */
export function readInPart(type: string, payload: unknown, maxItemBytes = Infinity): PartialReading | undefined {
  const kind = ownValue(KINDS, type);
  if (kind === undefined || !isFields(payload)) return undefined;
  const list = ownValue(payload, kind.list);
  if (!Array.isArray(list)) return undefined;
  const items = readList(kind, { payload, list }, { maxBytes: maxItemBytes, elements: MAX_ELEMENTS });
  if (items === undefined || !Array.isArray(payload['guests'])) return items;
  const guests = readGuests(payload['guests'], maxItemBytes);
  const partlyRead = [...items.partlyRead, ...guests.partlyRead];
  return isTooMuch(partlyRead) ? undefined : { payload: { ...items.payload, ...guests.payload }, partlyRead };
}

/** Of items that were read in part there may be any number: an agent of before may have thousands of such objects. */
const isTooMuch = (partlyRead: readonly PartlyRead[]): boolean =>
  partlyRead.length > MAX_UNREADABLE && partlyRead.filter(({ kept }) => !kept).length > MAX_UNREADABLE;

/** Numbers that come beside the items are read as they are, or left out; in a frame that is too large all of them are. */
function readGuests(guests: readonly unknown[], maxItemBytes: number): PartialReading {
  if (maxItemBytes !== Infinity) {
    return { payload: { guests: [] }, partlyRead: guests.slice(0, 1).map((one) => nameItem(one, ['guests'], false)) };
  }
  const readable: unknown[] = [];
  const partlyRead: PartlyRead[] = [];
  for (const guest of guests) {
    if (v.is(guestItem, guest)) readable.push(guest);
    else partlyRead.push(nameItem(guest, ['numbers'], false));
    if (partlyRead.length > MAX_UNREADABLE) break;
  }
  return { payload: { guests: readable }, partlyRead };
}

interface Bounds {
  readonly maxBytes: number;
  /** Left for the frame; counts down. */
  elements: number;
}

function readList(
  kind: ItemKind,
  { payload, list }: { readonly payload: Fields; readonly list: readonly unknown[] },
  bounds: Bounds,
): PartialReading | undefined {
  const items: unknown[] = [];
  const partlyRead: PartlyRead[] = [];
  for (const raw of list) {
    const { item, fields } = readItem(kind, raw, bounds);
    if (item !== undefined) items.push(item);
    if (item === undefined || fields.length > 0) partlyRead.push(nameItem(raw, fields, item !== undefined));
  }
  if (isTooMuch(partlyRead)) return undefined;
  return { payload: { ...payload, [kind.list]: items }, partlyRead };
}

/** False also for what is nested so deeply that it cannot be written. */
function isWithin(item: Fields, maxBytes: number): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(item), 'utf8') <= maxBytes;
  } catch {
    return false;
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface ReadItem {
  /** Undefined: nothing of it counts. */
  readonly item?: unknown;
  readonly fields: readonly string[];
}

function readItem(kind: ItemKind, raw: unknown, bounds: Bounds): ReadItem {
  if (!isFields(raw)) return { fields: [] };
  const { item: fitted, fields } = fitItem(kind, raw, bounds.maxBytes);
  let item = fitted;
  const names = Object.keys(kind.schema.entries);
  while (item !== undefined) {
    const name = findUnreadable(kind, item, names);
    if (name === undefined)
      return fields.length === 0 ? { item, fields } : { item: kind.mark?.(item, fields) ?? item, fields };
    // A field that was mended once and still is wrong cannot be.
    item = fields.includes(name) ? undefined : mendField(kind, { item, name }, bounds);
    fields.push(name);
  }
  return { fields };
}

/**
 * Name of the next field that cannot be read; undefined when all can. `names`: those still to be looked at, in order; the
 * ones found good are taken from it, so that no long list is read again for each wrong field behind it.
 */
function findUnreadable({ schema }: ItemKind, item: Fields, names: string[]): string | undefined {
  for (let [name] = names; name !== undefined; names.shift(), [name] = names) {
    const entry = ownValue(schema.entries, name);
    const isMissing = !Object.hasOwn(item, name) && entry?.type === 'exact_optional';
    if (entry !== undefined && !isMissing && !v.is(entry, ownValue(item, name))) return name;
  }
  return undefined;
}

function fitItem({ shed = [], lost }: ItemKind, raw: Fields, maxBytes: number): { item?: Fields; fields: string[] } {
  const fits = (item: Fields): boolean => maxBytes === Infinity || isWithin(item, maxBytes);
  const fields: string[] = [];
  let item = raw;
  for (const name of shed) {
    if (fits(item)) return { item, fields };
    if (ownValue(item, name) === undefined) continue;
    const { [name]: _, ...others } = item;
    item = lost !== undefined && Object.hasOwn(lost, name) ? { ...others, [name]: ownValue(lost, name) } : others;
    fields.push(name);
  }
  return fits(item) ? { item, fields } : { fields };
}

/** The item with this field readable, or without it; undefined when it is nothing without the field. */
function mendField(
  { schema, lost }: ItemKind,
  { item, name }: { readonly item: Fields; readonly name: string },
  bounds: Bounds,
): Fields | undefined {
  const { [name]: value, ...others } = item;
  const longest = ownValue(TEXTS, name);
  if (longest !== undefined && typeof value === 'string') return { ...item, [name]: cutToBytes(value, longest) };
  const element = ownValue(ELEMENTS, name);
  if (element !== undefined && Array.isArray(value) && value.length <= bounds.elements) {
    bounds.elements -= value.length;
    return { ...item, [name]: readElements(element, value) };
  }
  if (lost !== undefined && Object.hasOwn(lost, name)) return { ...item, [name]: ownValue(lost, name) };
  return ownValue(schema.entries, name)?.type === 'exact_optional' ? others : undefined;
}

function readElements(schema: v.GenericSchema, elements: readonly unknown[]): unknown[] {
  return elements
    .map((element) => (isFields(element) && !v.is(schema, element) ? cutTexts(element) : element))
    .filter((element) => v.is(schema, element));
}

const encoder = new TextEncoder();
/** As many whole characters as fit: half a character is what PostgreSQL refuses. */
const cutToBytes = (text: string, maxBytes: number): string =>
  text.slice(0, encoder.encodeInto(text.slice(0, maxBytes), new Uint8Array(maxBytes)).read);

const cutTexts = (element: Fields): Fields =>
  Object.fromEntries(
    Object.entries(element).map(([name, value]) => {
      const longest = ownValue(TEXTS, name);
      return [name, longest !== undefined && typeof value === 'string' ? cutToBytes(value, longest) : value];
    }),
  );

/** As an agent of today says it by itself. */
function markStatus(item: StatusItem, fields: readonly string[]): StatusItem {
  const times = item.conditions.map(({ lastTransitionTime }) => lastTransitionTime).sort();
  const told = {
    type: PART_CONDITION,
    status: 'True',
    reason: 'Unreadable',
    message: `The hub cannot read all that its agent tells of this object (${fields.join(', ')}), so that is not shown in full. ${WHAT_TO_DO}`,
    observedGeneration: item.observedGeneration ?? 0,
    lastTransitionTime: times.at(-1) ?? '',
  } as const;
  return { ...item, conditions: [...item.conditions, told] };
}

export const WHAT_TO_DO =
  'Look at the object in its member cluster: an annotation, a name or a text in it is far too long or of a wrong kind.';

function nameItem(raw: unknown, fields: readonly string[], kept: boolean): PartlyRead {
  const named: Fields = isFields(raw) ? raw : {};
  const textOf = (name: string): string => {
    const value = ownValue(named, name);
    return typeof value === 'string' ? cutToBytes(value, MAX_NAME_BYTES) : '';
  };
  const hubUid = fields.includes('hubUid') ? '' : textOf('hubUid');
  return { ...(hubUid === '' ? {} : { hubUid }), namespace: textOf('namespace'), name: textOf('name'), fields, kept };
}
