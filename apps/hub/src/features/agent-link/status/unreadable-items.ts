/**
 * What a person is told of items that this hub could read in part only, or not at all: an Event of the object, once a
 * session, named by the day, so that an agent that comes back every minute does not fill the list. Without it an object
 * would look healthy while half of what its agent says of it is dropped.
 */
import { ownValue } from '#domain';
import { type EventItem, type PartlyRead, WHAT_TO_DO } from '#protocol';

const DAY_MS = 86_400_000;
/** Of one session. */
const MAX_TOLD = 500;

export class UnreadableItems {
  readonly #told = new Set<string>();

  /** What was not told yet. A shortened event is its own notice. */
  toEvents(type: string, items: readonly PartlyRead[], nowMs: number): EventItem[] {
    return items
      .filter(({ kept }) => !kept || type !== 'EventBatch')
      .filter((item) => this.#isNew(`${type} ${JSON.stringify(item)}`))
      .map((item) => toEvent(type, item, nowMs));
  }

  #isNew(text: string): boolean {
    if (this.#told.has(text) || this.#told.size >= MAX_TOLD) return false;
    this.#told.add(text);
    return true;
  }
}

const WHAT: Readonly<Record<string, string>> = {
  StatusBatch: 'a status',
  EventBatch: 'an Event',
  DesiredAck: 'an outcome',
  InventoryChunk: 'an inventory entry',
};

function toEvent(type: string, { hubUid, namespace, name, fields, kept }: PartlyRead, nowMs: number): EventItem {
  const what = ownValue(WHAT, type) ?? type;
  const where = fields.length === 0 ? '' : ` (${fields.join(', ')})`;
  const result = kept ? 'is shown without what is unreadable' : 'is left out';
  return {
    ...(hubUid === undefined ? {} : { hubUid }),
    namespace,
    name,
    severity: 'Warning',
    reason: 'Unreadable',
    message: `The hub cannot read ${what} that the agent told of ${namespace}/${name}${where}; it ${result}. ${WHAT_TO_DO}`,
    first: new Date(nowMs - (nowMs % DAY_MS)).toISOString(),
    last: new Date(nowMs).toISOString(),
    count: 1,
  };
}
