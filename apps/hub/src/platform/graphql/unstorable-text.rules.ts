/**
 * Refuses text that PostgreSQL cannot hold, NUL and half surrogate pairs, wherever it stands in a request. It is never
 * meant, and further in it would be an internal error: the database refuses the whole statement.
 */
import { visit, type DocumentNode } from 'graphql';
import { ApiError } from './api-error.ts';

/** Throws ApiError BAD_USER_INPUT. Walks without recursion: variables may be nested as deep as a body is long. */
export function refuseUnstorable(document: DocumentNode, variables: Readonly<Record<string, unknown>>): void {
  const waiting: unknown[] = [variables];
  visit(document, { StringValue: (node) => void waiting.push(node.value) });
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') refuseText(value);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        refuseText(key);
        waiting.push(inner);
      }
    }
  }
}

function refuseText(text: string): void {
  if (!text.includes('\0') && text.isWellFormed()) return;
  throw new ApiError('BAD_USER_INPUT', 'Text may hold neither the character NUL nor half a surrogate pair.');
}
