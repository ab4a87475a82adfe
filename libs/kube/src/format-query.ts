/** `?a=1&b=2`, without the undefined ones; empty when there are none. */
export function formatQuery(query: Readonly<Record<string, string | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, value);
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
