export { ControlLoop } from './control-loop.ts';
export type { PassOutcome } from './reconcile.ts';
