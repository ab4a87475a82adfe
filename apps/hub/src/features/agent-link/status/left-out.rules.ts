/**
 * When a status of which nothing could be stored is left out, from what the database said, how often, and whether the status of
 * others was stored meanwhile. A value that the database refuses is left out at once. Every other failure may be one of the
 * whole database (a table that is not there): as long as nobody's status is stored, what is left out would be that of everybody.
 */
import { isAboutContent, isSurelyContent, readSqlState } from '../../../platform/database/sql-state.ts';

/** With growing pauses from half a second: four seconds. */
const TRIES_BESIDE_OTHERS = 4;
/** A minute. */
const TRIES_ALONE = 8;

export interface Failures {
  /** In a row, of this agent alone. */
  readonly tries: number;
  /** Status of somebody was stored since the first of them. */
  readonly othersStored: boolean;
}

export function isLeftOut(error: unknown, { tries, othersStored }: Failures): boolean {
  if (!isAboutContent(error)) return false;
  if (isSurelyContent(error)) return true;
  if (othersStored) return tries >= TRIES_BESIDE_OTHERS;
  // Syntax, tables, columns, rights: of the statement, which is the same for all.
  return !readSqlState(error).startsWith('42') && tries >= TRIES_ALONE;
}
