/**
 * True when `a` is an older resourceVersion than `b`. Kubernetes promises decimal numbers of one order per resource
 * (KEP-5504); anything else is not compared. A version that goes back means the server's storage was restored: a watch
 * would then stay silent for ever, so the reflector lists again.
 */
export function isOlderResourceVersion(a: string, b: string): boolean {
  if (!/^[0-9]+$/.test(a) || !/^[0-9]+$/.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}
