export { ControlLoop } from './control-loop.ts';
export { DisruptionBook } from './disruption-book.ts';
export type { PassOutcome } from './reconcile.ts';
export { resyncPauseMs } from './resync-pause.ts';
