/** Labels a pod with its role, by which the role Services select. The uid keeps the label off a successor of the name. */
import { LABEL } from '#domain';
import { RESOURCE, isKubeError } from '#kube';
import type { Executor } from './execution-context.ts';
import { WRITE } from './execution-context.ts';

const ROLE_PATH = `/metadata/labels/${LABEL.role.replace('~', '~0').replace('/', '~1')}`;

export const executeLabelRole: Executor<'LabelRole'> = async ({ pod, podUid, role }, context) => {
  const { client, namespace, assertMayWrite } = context;
  assertMayWrite();
  try {
    await client.patchJson(
      RESOURCE.pod,
      { namespace, name: pod },
      [
        { op: 'test', path: '/metadata/uid', value: podUid },
        { op: 'add', path: ROLE_PATH, value: role },
      ],
      WRITE,
    );
  } catch (error) {
    // The pod was replaced since it was seen: its successor is looked at in the next pass.
    if (!isKubeError(error) || !(error.isNotFound() || error.isInvalid())) throw error;
  }
};
