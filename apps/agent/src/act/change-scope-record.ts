/**
 * The two changes of an existing ConfigMap atoll-scope. Both carry the resourceVersion that was judged: when anybody has
 * written in between, the API server refuses with a conflict and nothing has changed.
 */
import { SCOPE_CONFIG_MAP, toScopeRecord } from '#domain';
import type { ScopeRecord } from '#domain';
import { RESOURCE } from '#kube';
import type { KubeClient } from '#kube';
import { WRITE } from './execution-context.ts';

const change = async (
  client: KubeClient,
  namespace: string,
  record: ScopeRecord,
  data: Readonly<Record<string, string | null>>,
): Promise<string> => {
  const answer = await client.patchMerge(
    RESOURCE.configMap,
    { namespace, name: SCOPE_CONFIG_MAP },
    { metadata: { resourceVersion: record.resourceVersion }, data },
    WRITE,
  );
  return answer.metadata.resourceVersion ?? '';
};

/** Answers the resourceVersion of the record that names the next owner. Rejects with a KubeError. */
export const handOverNamespace = (
  client: KubeClient,
  namespace: string,
  record: ScopeRecord,
  to: string,
): Promise<string> => change(client, namespace, record, { owner: to, requestedBy: null, releasedBy: record.owner });

/** Asks the owner to hand over. Rejects with a KubeError. */
export const requestNamespace = (
  client: KubeClient,
  namespace: string,
  record: ScopeRecord,
  self: string,
): Promise<string> => change(client, namespace, record, { requestedBy: self });

/** As the server has it now; undefined when there is none. */
export const readScopeRecord = async (client: KubeClient, namespace: string): Promise<ScopeRecord | undefined> => {
  const object = await client.find(RESOURCE.configMap, { namespace, name: SCOPE_CONFIG_MAP }, { timeoutMs: 5_000 });
  return object === undefined ? undefined : toScopeRecord(object);
};
