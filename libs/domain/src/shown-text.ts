/**
 * Text that somebody else chose, as a person may be shown it who decides by it: printable ASCII, everything else written as
 * its number. Control characters and marks that turn the direction of writing make one fingerprint look like another, and
 * letters of other scripts look like ours.
 */
const MOST_CHARACTERS = 256;
const OTHER = /[^\x20-\x7e]/gu;

/** The same text when it is harmless, also when it was written so before; never longer than `most` characters and an ellipsis. */
export function showSafely(text: string, most = MOST_CHARACTERS): string {
  const begin = text.length > most ? text.slice(0, most).toWellFormed() : text.toWellFormed();
  const escaped = begin.replace(OTHER, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return text.length > most || escaped.length > 2 * most ? `${escaped.slice(0, 2 * most)}…` : escaped;
}
