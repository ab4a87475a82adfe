/**
 * Which foreign fields are told where an object says more than a frame holds. One that cannot be told with its live value is
 * not told at all: without the value it would say that the field was removed here, and whoever accepts that drift would
 * take it out of the spec.
 */
import { isReadableField } from '#protocol';
import type { ForeignField } from '#protocol';

const MAX_LIVE_VALUE_CHARACTERS = 4_096;

export const isTellableField = (field: ForeignField): boolean =>
  isReadableField(field) && (field.liveValue ?? '').length <= MAX_LIVE_VALUE_CHARACTERS;
