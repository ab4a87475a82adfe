import { Foundation1764460800000 } from './1764460800000-foundation.ts';
import { StatusDetails1764547200000 } from './1764547200000-status-details.ts';

/** Every migration, oldest first. Never edited after release: a change is a new file at the end of this list. */
export const migrations = [Foundation1764460800000, StatusDetails1764547200000];
