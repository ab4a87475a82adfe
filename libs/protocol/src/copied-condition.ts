import type { Condition } from '#domain';

/**
 * A condition of status items alone, never of a custom resource: the object carries annotations that were copied from
 * another one, so it is told without a hubUid, as the hand-made object it is.
 */
export const COPIED_CONDITION = 'HubUidCopied' as Condition['type'];

/** A condition of status items alone: the object says more than the hub can be told, and this item leaves some of it out. */
export const PART_CONDITION = 'ToldInPart' as Condition['type'];
