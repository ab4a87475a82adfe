import type { UserError as Refusal } from '#domain';
import { encodeGlobalId } from './global-id.ts';
import type { UserError } from './user-error.model.ts';

export const toUserError = (refusal: Refusal): UserError => ({
  code: refusal.code,
  message: refusal.message,
  field: refusal.field === undefined ? null : [...refusal.field],
  retryable: refusal.retryable,
  memberClusterId:
    refusal.memberClusterId === undefined ? null : encodeGlobalId('MemberCluster', refusal.memberClusterId),
  changedFields: refusal.changedFields === undefined ? null : [...refusal.changedFields],
});
