/** Reads a Kubernetes API path: `/api/v1/…` or `/apis/GROUP/VERSION/…`. */
export interface KubePath {
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

export function parseKubePath(pathname: string): KubePath | undefined {
  const steps = pathname.split('/').slice(1).map(decodeURIComponent);
  const root = steps.shift();
  const apiVersion = root === 'api' ? steps.shift() : root === 'apis' ? `${steps.shift()}/${steps.shift()}` : undefined;
  if (apiVersion === undefined || steps[0] === undefined) return undefined;
  // `/api/v1/namespaces/NAME` is the Namespace itself; with more steps it is the place of something else.
  const isPlace = steps[0] === 'namespaces' && steps.length > 2;
  const namespace = isPlace ? steps[1] : undefined;
  const [plural = '', name, subresource] = isPlace ? steps.slice(2) : steps;
  return { apiVersion, plural, namespace, name, subresource };
}
