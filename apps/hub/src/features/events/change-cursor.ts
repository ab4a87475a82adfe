/**
 * A place in change_log: (xid8, id), and the hub epoch it belongs to. Clients hold it as opaque text. Of another epoch,
 * that is after a restore, it means nothing, and the reader says GAP.
 */
export interface ChangeCursor {
  /** As text: an xid8 may pass what a number holds exactly. */
  readonly xid: string;
  readonly id: number;
}

/** As PostgreSQL counts: beyond them a comparison with the cursor is an error of the database. */
const LARGEST_XID = 2n ** 64n - 1n;
/** Of base64url: 36 of the epoch, 20 and 16 digits, and what stands between them. */
const MOST_CHARACTERS = 128;
const SHAPE = /^([0-9a-f-]{36})\/(\d{1,20})\/(-?\d{1,16})$/;

export const encodeChangeCursor = (epoch: string, cursor: ChangeCursor): string =>
  Buffer.from(`${epoch}/${cursor.xid}/${cursor.id}`, 'utf8').toString('base64url');

/** The place a client's text names; 'OTHER_EPOCH', or undefined when it is no cursor at all. */
export function decodeChangeCursor(epoch: string, text: string): ChangeCursor | 'OTHER_EPOCH' | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  const match = SHAPE.exec(Buffer.from(text, 'base64url').toString('utf8'));
  if (!match) return undefined;
  const [, itsEpoch, xid = '0', id = '0'] = match;
  if (BigInt(xid) > LARGEST_XID) return undefined;
  return itsEpoch === epoch ? { xid, id: Number(id) } : 'OTHER_EPOCH';
}
