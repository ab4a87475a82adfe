/** What RBAC calls a request: its verb and its resource, `pods/eviction` with the subresource. For counting; pure. */
import { ownValue } from '#domain';

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
  const [plural, name, subresource] = partsOf(route);
  if (plural === undefined) return { verb: method.toLowerCase(), resource: 'other' };
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const isWatch = /(^|&)watch=(true|1)(&|$)/.test(query);
  const reading = isWatch ? 'watch' : name === undefined ? 'list' : 'get';
  return { verb: method === 'GET' ? reading : (ownValue(VERB_OF_METHOD, method) ?? method.toLowerCase()), resource };
};

const GROUP_PARTS: Readonly<Record<string, number>> = { api: 2, apis: 3 };

/** Plural, name and subresource; `namespaces/NS` before them is left out, alone it is the namespace itself. */
const partsOf = (route: string): readonly string[] => {
  const parts = route.split('/').filter((part) => part !== '');
  const skip = ownValue(GROUP_PARTS, parts[0] ?? '');
  const below = skip === undefined ? [] : parts.slice(skip);
  return below[0] === 'namespaces' && below.length > 2 ? below.slice(2) : below;
};
