export { ControlLoop } from './control-loop.ts';
export type { PassOutcome, ReconcileParts } from './reconcile.ts';
