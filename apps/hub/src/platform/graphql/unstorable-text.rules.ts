/**
 * Refuses text of a request that can mean nothing: NUL and half surrogate pairs, which PostgreSQL cannot hold, wherever they
 * stand, and in queries text that is longer than any id, cursor or name. It is never meant, and further in it would be an
 * internal error: the database refuses the whole statement. Mutations bound their inputs field by field, and audit it
 * (features/audit/input-bounds.rules.ts).
 */
import { visit, type DocumentNode } from 'graphql';
import { ApiError } from './api-error.ts';

/** In bytes of UTF-8: a cursor over groups holds five names. */
export const MOST_QUERY_TEXT_BYTES = 4_096;

/** Throws ApiError BAD_USER_INPUT. Walks without recursion: variables may be nested as deep as a body is long. */
export function refuseUnstorable(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  mostBytes = Infinity,
): void {
  const waiting: unknown[] = [variables];
  const take = (node: { readonly value: string }): void => void waiting.push(node.value);
  // A number may stand where an ID is asked for, and is text then.
  visit(document, { StringValue: take, IntValue: take });
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') refuseText(value, mostBytes);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        refuseText(key, mostBytes);
        waiting.push(inner);
      }
    }
  }
}

function refuseText(text: string, mostBytes: number): void {
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new ApiError('BAD_USER_INPUT', 'Text may hold neither the character NUL nor half a surrogate pair.');
  }
  if (text.length * 3 <= mostBytes) return;
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes <= mostBytes) return;
  const begin = text.slice(0, 32).toWellFormed();
  const message = `The text that begins with "${begin}" has ${bytes} bytes; a query takes texts of at most ${mostBytes}.`;
  throw new ApiError('BAD_USER_INPUT', message);
}
