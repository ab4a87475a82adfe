/** Status as JSON rows of bounded size. Each is written once: to write an item again only to measure it would double the cost of a commit. */
import { boundItem, MAX_ITEM_BYTES } from './bound-item.rules.ts';
import type { ReportedItem } from './status.rules.ts';

export interface BoundRow<T extends ReportedItem> {
  /** As it is stored. */
  readonly one: T;
  /** JSON. */
  readonly text: string;
  readonly bytes: number;
  readonly isCut: boolean;
}

/** Beside the item: ids, kind and counters. */
const ROW_BYTES = 1_024;

export function toBoundRow<T extends ReportedItem>(one: T, toRow: (one: T) => object): BoundRow<T> {
  const text = JSON.stringify(toRow(one));
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes <= MAX_ITEM_BYTES + ROW_BYTES) return { one, text, bytes, isCut: false };
  const { item, shed } = boundItem(one.item);
  const cut = { ...one, item };
  const shorter = JSON.stringify(toRow(cut));
  return { one: cut, text: shorter, bytes: Buffer.byteLength(shorter, 'utf8'), isCut: shed.length > 0 };
}

export const joinRows = (rows: readonly { readonly text: string }[]): string =>
  `[${rows.map(({ text }) => text).join(',')}]`;
