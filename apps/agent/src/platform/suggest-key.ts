/** The known key that a misspelt one most likely meant: fewest edits, at most a third of its length; else undefined. */
export function suggestKey(wrong: string, known: readonly string[]): string | undefined {
  const ranked = known.map((key) => ({ key, edits: countEdits(wrong, key) })).sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= Math.floor(wrong.length / 3) ? best.key : undefined;
}

/** Levenshtein distance. */
function countEdits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
