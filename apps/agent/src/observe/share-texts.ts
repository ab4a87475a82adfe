/**
 * Long texts that many objects have in common, kept once: the scripts of every data set are the same 28 KB, and a parser
 * makes them anew for each. Bounded, so that texts that nobody shares cannot pile up here; what is let go of is only not
 * shared with what comes later.
 */
const SHORTEST = 1_000;
const MOST = 64;

const known = new Map<string, string>();

const share = (text: string): string => {
  if (text.length < SHORTEST) return text;
  const same = known.get(text);
  if (same !== undefined) return same;
  if (known.size >= MOST) known.clear();
  known.set(text, text);
  return text;
};

/** The values of a ConfigMap. Equal to the given ones. */
export const shareTexts = (values: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [name, share(text)]));
