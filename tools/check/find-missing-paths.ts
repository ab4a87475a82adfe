/** A path of the repository as documents write it: in back quotes or as a link's target, starting at a top folder. */
const NAMED_PATH =
  /(?:`|\]\()((?:\.\/)?(?:apps|libs|migrations|helm|e2e|bench|docs|tools|\.ci)\/[\w./-]*\w\/?)(?:`|\)|#)/g;

/** The paths a document names that `exists` does not know, each once, in their order. */
export function findMissingPaths(markdown: string, exists: (path: string) => boolean): string[] {
  const named = [...markdown.matchAll(NAMED_PATH)].map((match) => match[1] ?? '');
  return [...new Set(named)].filter((path) => !exists(path));
}
