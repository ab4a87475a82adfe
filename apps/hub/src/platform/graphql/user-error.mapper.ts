import { encodeGlobalId } from './global-id.ts';
import type { Refusal } from './result.ts';
import type { UserError } from './user-error.model.ts';

export const toUserError = (refusal: Refusal): UserError => ({
  code: refusal.code,
  message: refusal.message,
  field: refusal.field === undefined ? null : [...refusal.field],
  retryable: refusal.retryable ?? false,
  memberClusterId:
    refusal.memberClusterId === undefined ? null : encodeGlobalId('MemberCluster', refusal.memberClusterId),
});
