/**
 * What a list that takes neither `first` nor `ids` counts as in the cost of a query: its limit where it has one, else about
 * as many items as it holds in a large place. A list that is missing here would count as one item, so a test walks the
 * schema and fails for it.
 */
import { ownValue } from '#domain';
import { getNullableType, isListType, type GraphQLField } from 'graphql';

/** By `Type.field`, or `*.field` for that of every type. */
const LIST_SIZES: Readonly<Record<string, number>> = {
  // Counted by the `first` of the field that answers the page.
  '*.edges': 1,
  '*.nodes': 1,
  'FleetHealth.groups': 1,
  '*.userErrors': 10,
  'UserError.field': 5,
  'UserError.changedFields': 20,
  'Agent.trustedCas': 5,
  'ApproveDeletesPayload.redisClusters': 100,
  'Delivery.drift': 5,
  'ForgetMemberClusterPayload.orphanedHubUids': 10_000,
  'HubInfo.agentAddresses': 10,
  'MemberCluster.agents': 10,
  'Query.localObjects': 1_000,
  'Query.projects': 100,
  'RedisClusterStatus.conditions': 10,
  'RedisClusterStatus.pods': 6,
  'ReplaceMemberClusterPayload.hubUids': 10_000,
  'UpdateRedisClusterPayload.changedFields': 20,
  'Viewer.grants': 20,
};

/** Undefined: no list, or one that nobody declared. */
export function sizeOfList(
  parent: string,
  field: GraphQLField<unknown, unknown>,
): { readonly name: string; readonly size: number } | undefined {
  if (!isListType(getNullableType(field.type))) return undefined;
  const name = `${parent}.${field.name}`;
  const size = ownValue(LIST_SIZES, name) ?? ownValue(LIST_SIZES, `*.${field.name}`);
  return size === undefined ? undefined : { name, size };
}
