/**
 * Every stable code a user can meet in GraphQL `userErrors` or in a delivery, with the sentence that says what to do
 * next. One table, so that the hub, the agent, the CLI and the documentation cannot disagree.
 */
export const ERROR_CODES = {
  INVALID_INPUT: 'Correct the named field and send the request again.',
  NOT_FOUND: 'Check the id; the object may have been deleted, or you may not see it.',
  ALREADY_EXISTS: 'Choose another name, or adopt the existing object.',
  GENERATION_CONFLICT: 'Read the object again, look at the changed fields, and repeat with the current generation.',
  IDEMPOTENCY_KEY_REUSED: 'Use a new idempotency key for a new request.',
  FORBIDDEN: 'Ask an owner of the project for the right named in the message.',
  MEMBER_CLUSTER_NOT_APPROVED: 'Approve the member cluster first.',
  NO_AGENT_FOR_NAMESPACE: 'Enrol an agent that owns this namespace, or one of scope CLUSTER.',
  TOKEN_INVALID: 'Create a new enrolment token; each is used once and expires.',
  FINGERPRINT_MISMATCH: 'This key belongs to another Kubernetes cluster; enrol this one on its own.',
  AGENT_QUARANTINED:
    'Its key was used in two places. Look at both clusters; then approve the agent again, or revoke it and enrol a replacement.',
  AGENT_REVOKED: 'This agent was forgotten; enrol it anew.',
  SIGNATURE_INVALID: 'The agent signed with another key than the enrolled one; enrol it anew.',
  OBJECT_TOO_LARGE: 'Keep the object under 200 KiB.',
  NOT_DRIFTED: 'Nothing to do: the live object is as the hub wants it.',
  NOT_DELETED_LOCALLY: 'Nothing to do: the object still exists in the member cluster.',
  SPEC_REJECTED: 'Correct the spec as the message says.',
  CRD_TOO_OLD: 'Upgrade the agent, or its CRDs, in that member cluster.',
  AGENT_UNREACHABLE:
    "Look at the agent's pod and at its way to the hub; Redis runs on meanwhile, and what is shown is the last that was heard.",
  MEMBER_API_DOWN: "Wait for the member cluster's API server, or repair it.",
  AGENT_OVER_LIMIT:
    'Its member cluster holds, or its agent tells, more than the hub keeps of one agent, so not all is shown; the log says AGENT_OVER_LIMIT and which limit.',
  GENERATION_REUSED: 'Nothing to do: the hub sends the object again under a new generation.',
  NOT_PERMITTED_HERE: "The agent's own limits in the member cluster forbid this; change its values there.",
  DELETION_DENIED: 'Change deletionPolicy first, or delete with "orphan: true", which leaves the object in place.',
  DELETED_LOCALLY: 'Recreate the object, or forget it.',
  DELETE_BREAKER:
    'Many deletes within 5 minutes wait for a person: an ADMIN approves them with the mutation approveDeletes, or forget the object.',
  CHANGE_BREAKER:
    'The agent holds a change that can lose data or stop Redis. If it is meant, let it through in the member cluster as the message says.',
  DELETE_BEFORE_RESTORE:
    'Asked for before the hub was restored: an ADMIN approves it with approveDeletes, or ask for it again, or forget the object.',
  DELETE_BEFORE_REPLACEMENT:
    'Asked for before the member cluster was replaced: look at the object there, then approveDeletes, ask again, or forget it.',
  DELETED_OBJECT_IS_BACK:
    'Somebody put it back since its delete was asked for, or carried out: approve the delete again with approveDeletes, or forget the object to keep it.',
  DELETE_APPROVAL_EXPIRED: 'Approve the delete again with the mutation approveDeletes.',
  DELETE_APPROVAL_INVALID:
    'Approve the delete with the mutation approveDeletes; the approval that came with it is about others.',
  NOT_BEING_DELETED: 'Delete the object first; only a delete that is on its way can be approved.',
  GENERATION_AHEAD:
    'The member cluster holds a newer generation than the hub: compare both, then save the one you want.',
  BEING_DELETED: 'Wait until the agent has acknowledged the delete.',
  NAME_TAKEN: 'Wait until the other object of this name is gone, or remove it.',
  TOMBSTONED: 'Create the object anew, under a new id: this one was deleted or let go in that member cluster.',
} as const;
export type ErrorCode = keyof typeof ERROR_CODES;
