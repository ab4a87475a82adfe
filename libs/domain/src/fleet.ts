/** Words of the fleet that hub, agent and clients share. */

/** How old a report is, on the hub's clock. UNKNOWN is never shown as healthy, nor as zero. */
export type Freshness = 'FRESH' | 'LATE' | 'UNKNOWN';
/** An agent counts as LATE after 45 s without a frame, as DISCONNECTED (values UNKNOWN) after 90 s (03 rule 11). */
export const LATE_AFTER_MS = 45_000;
export const DISCONNECTED_AFTER_MS = 90_000;
export const HEARTBEAT_INTERVAL_MS = 15_000;

/** The outcome of one object's generation at the agent (03, Truth and order). */
export const DELIVERY_STATES = ['PENDING', 'APPLIED', 'REJECTED', 'CONFLICT', 'WAITING', 'DELETED_LOCALLY'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export type TombstoneKind = 'DELETE' | 'ORPHAN';

/** Largest object the hub accepts and the link carries, in bytes of its JSON text. */
export const MAX_OBJECT_BYTES = 200 * 1024;
/**
 * Highest generation that a hub can have written. Above it stands what somebody wrote into the annotation: counted on
 * from there, the number would soon be no safe integer, and the object could never be saved again.
 */
export const MAX_GENERATION = 2 ** 52;
