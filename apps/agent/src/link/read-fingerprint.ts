/**
 * Which Kubernetes cluster this is, so that a key in another cluster is noticed (03, Who is who). An agent of scope CLUSTER
 * uses the uid of namespace kube-system; a namespaced one may not read that and uses what it may: the cluster's own CA
 * and the uid of its namespace.
 */
import { createHash } from 'node:crypto';
import type { Scope } from '#domain';
import { RESOURCE } from '#kube';
import type { MemberApi } from './member-api.ts';

/** Throws when it cannot be read. */
export async function readFingerprint(
  api: Pick<MemberApi, 'find'>,
  scope: Scope,
  ownNamespace: string,
): Promise<string> {
  if (scope.kind === 'CLUSTER') return `kubeSystemUid:${await readNamespaceUid(api, 'kube-system')}`;
  const at = { namespace: ownNamespace, name: 'kube-root-ca.crt' };
  const data = (await api.find(RESOURCE.configMap, at))?.['data'] as Readonly<Record<string, string>> | undefined;
  const ca = data?.['ca.crt'];
  if (ca === undefined) throw new Error(`ConfigMap ${ownNamespace}/kube-root-ca.crt holds no ca.crt`);
  const hash = createHash('sha256').update(ca).digest('hex');
  return `rootCa:${hash}+ns:${await readNamespaceUid(api, ownNamespace)}`;
}

async function readNamespaceUid(api: Pick<MemberApi, 'find'>, name: string): Promise<string> {
  const uid = (await api.find(RESOURCE.namespace, { name }))?.metadata.uid;
  if (uid === undefined) throw new Error(`namespace ${name} cannot be read`);
  return uid;
}
