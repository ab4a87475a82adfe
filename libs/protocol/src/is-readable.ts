/**
 * Whether the hub would read a part of a frame. What people wrote into an object of a member cluster goes into frames, and
 * a frame with one part that cannot be read ends the session: an agent that did not ask first would lose the session
 * again and again, and all its other objects with it, to one annotation.
 */
import * as v from 'valibot';
import { objectOutcome, statusItem } from './agent-payload-schemas.ts';
import * as field from './field-schemas.ts';
import type { ForeignField, ObjectOutcome, StatusItem } from './messages.ts';

export const isReadableItem = (item: StatusItem): boolean => v.is(statusItem, item);
export const isReadableOutcome = (outcome: ObjectOutcome): boolean => v.is(objectOutcome, outcome);
export const isReadableField = (foreign: ForeignField): boolean => v.is(field.foreignField, foreign);
export const isReadableHash = (specHash: string): boolean => v.is(field.sha256, specHash);
