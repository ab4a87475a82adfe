/** All rules, in the order in which they are asked. The order is part of the design (04, Order of rules). */
import type { Rule } from './rule.ts';
import { addFinalizer } from './rules/add-finalizer.ts';
import { applyChildren } from './rules/apply-children.ts';
import { attachReplicas } from './rules/attach-replicas.ts';
import { changeShape } from './rules/change-shape.ts';
import { correctConfig } from './rules/correct-config.ts';
import { createDataSet } from './rules/create-data-set.ts';
import { failOverOperation } from './rules/fail-over-operation.ts';
import { endBackOff } from './rules/end-back-off.ts';
import { forgetMembers } from './rules/forget-members.ts';
import { forgetLostReplicas } from './rules/forget-lost-replicas.ts';
import { gateDeletion } from './rules/gate-deletion.ts';
import { gateNamespaceOwner } from './rules/gate-namespace-owner.ts';
import { gateRejectedSpec } from './rules/gate-rejected-spec.ts';
import { gateStalePicture } from './rules/gate-stale-picture.ts';
import { gateSuspended } from './rules/gate-suspended.ts';
import { gateTerminatingDefinition } from './rules/gate-terminating-definition.ts';
import { growVolumes } from './rules/grow-volumes.ts';
import { handOverEnding } from './rules/hand-over-ending.ts';
import { hibernate } from './rules/hibernate.ts';
import { holdFence } from './rules/hold-fence.ts';
import { labelRoles } from './rules/label-roles.ts';
import { noteReturningPods } from './rules/note-returning-pods.ts';
import { monitorPrimary } from './rules/monitor-primary.ts';
import { provideCredentials } from './rules/provide-credentials.ts';
import { raiseRenderVersion } from './rules/raise-render-version.ts';
import { reconcileUsers } from './rules/reconcile-users.ts';
import { rotateCredentials } from './rules/rotate-credentials.ts';
import { recordPrimary } from './rules/record-primary.ts';
import { recoverPrimary } from './rules/recover-primary.ts';
import { replaceUnreachable } from './rules/replace-unreachable.ts';
import { resumeReplicas } from './rules/resume-replicas.ts';
import { restorePriority } from './rules/restore-priority.ts';
import { rollOut } from './rules/roll-out.ts';
import { refreshPods } from './rules/refresh-pods.ts';
import { removeLeftovers } from './rules/remove-leftovers.ts';
import { tellCutOff } from './rules/tell-cut-off.ts';
import { tellWaitingDeletion } from './rules/tell-waiting-deletion.ts';
import { tellVolumes } from './rules/tell-volumes.ts';
import { switchPersistence } from './rules/switch-persistence.ts';
import { resolveSplitBrain } from './rules/resolve-split-brain.ts';

export const RULES: readonly Rule[] = [
  gateNamespaceOwner,
  gateStalePicture,
  gateTerminatingDefinition,
  gateDeletion,
  gateSuspended,
  gateRejectedSpec,
  resolveSplitBrain,
  holdFence,
  addFinalizer,
  provideCredentials,
  noteReturningPods,
  forgetMembers,
  applyChildren,
  hibernate,
  createDataSet,
  recoverPrimary,
  recordPrimary,
  attachReplicas,
  resumeReplicas,
  monitorPrimary,
  forgetLostReplicas,
  labelRoles,
  handOverEnding,
  replaceUnreachable,
  endBackOff,
  restorePriority,
  rotateCredentials,
  reconcileUsers,
  correctConfig,
  failOverOperation,
  refreshPods,
  switchPersistence,
  changeShape,
  raiseRenderVersion,
  rollOut,
  removeLeftovers,
  tellVolumes,
  tellCutOff,
  growVolumes,
  tellWaitingDeletion,
];
