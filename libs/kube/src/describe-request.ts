/** What RBAC calls a request: its verb and its resource, `pods/eviction` with the subresource. For counting; pure. */
export interface DescribedRequest {
  readonly verb: string;
  readonly resource: string;
}

const VERB_OF_METHOD: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** `path` may carry a query. What is no object (discovery, /version) is the resource `other`. */
export const describeRequest = (method: string, path: string): DescribedRequest => {
  const [route = '', query = ''] = path.split('?');
  const parts = route.split('/').filter((part) => part !== '');
  const below = parts[0] === 'apis' ? parts.slice(3) : parts[0] === 'api' ? parts.slice(2) : [];
  // `namespaces/NS` stands before what is in it, and alone it is the namespace itself.
  const [plural, name, subresource] = below[0] === 'namespaces' && below.length > 2 ? below.slice(2) : below;
  if (plural === undefined) return { verb: method.toLowerCase(), resource: 'other' };
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  if (method !== 'GET') return { verb: VERB_OF_METHOD[method] ?? method.toLowerCase(), resource };
  const isWatch = /(^|&)watch=(true|1)(&|$)/.test(query);
  return { verb: isWatch ? 'watch' : name === undefined ? 'list' : 'get', resource };
};
