/** The body of a server-side apply: the wanted spec, the annotations of 03 and who pushes in the same write, nothing else. */
import { ANNOTATION, formatObjectKey } from '#domain';
import type { KubeObject, ObjectMeta } from '#domain';
import { withoutPaths } from '#kube';
import type { Upsert } from '#protocol';
import type { UpsertDecision } from './decide-upsert.ts';

export interface ApplyBody extends KubeObject {
  readonly metadata: ObjectMeta;
}

type Writing = Extract<UpsertDecision, { kind: 'CREATE' | 'UPDATE' }>;

/** `pushedBy`: owner text of this agent. `leaveOut`: paths from the object's root that stay with their owners. */
export function buildApplyBody(
  upsert: Upsert,
  decision: Writing,
  { pushedBy, leaveOut }: { readonly pushedBy: string; readonly leaveOut: readonly string[] },
): ApplyBody {
  const uid = decision.kind === 'UPDATE' ? decision.live.metadata.uid : undefined;
  const body: ApplyBody = {
    apiVersion: upsert.apiVersion,
    kind: upsert.kind,
    metadata: {
      namespace: upsert.namespace,
      name: upsert.name,
      ...(uid === undefined ? {} : { uid }),
      annotations: {
        [ANNOTATION.hubUid]: upsert.hubUid,
        [ANNOTATION.hubName]: formatObjectKey(upsert),
        [ANNOTATION.hubGeneration]: String(upsert.hubGeneration),
        [ANNOTATION.specHash]: upsert.specHash,
        [ANNOTATION.pushedBy]: pushedBy,
        ...(decision.dataSetId === undefined ? {} : { [ANNOTATION.dataSetId]: decision.dataSetId }),
      },
    },
    spec: decision.spec,
  };
  return withoutPaths(body, leaveOut);
}
