import { coreShare } from './process-usage.ts';
import type { FleetStage, Usages } from './fleet-stage.ts';

/** What processes used between two moments: shares in percent of one core, peaks over windows of a second. */
export interface Span {
  readonly seconds: number;
  readonly hubCore: number;
  readonly postgresCore: number;
  readonly simulatorCore: number;
  readonly haproxyCore: number;
  readonly hubPeakCore: number;
  readonly hubPeakMib: number;
  readonly end: Usages;
}

const WINDOW_MS = 1_000;

/** Looks once a second until it is ended. */
export function sampleUsage(stage: FleetStage): { end(): Span } {
  const first = stage.usages();
  let last = first;
  let hubPeakCore = 0;
  let hubPeakMib = first.hub.rssMib;
  const look = (): void => {
    const now = stage.usages();
    const seconds = (now.atMs - last.atMs) / 1000;
    // A window that is cut short tells more of the clock's grain than of the process.
    if (seconds > 0.5) hubPeakCore = Math.max(hubPeakCore, coreShare(last.hub, now.hub, seconds));
    hubPeakMib = Math.max(hubPeakMib, now.hub.rssMib);
    last = now;
  };
  const timer = setInterval(look, WINDOW_MS);
  return {
    end: () => {
      clearInterval(timer);
      look();
      const seconds = (last.atMs - first.atMs) / 1000;
      const { haproxy } = first;
      return {
        seconds,
        hubCore: coreShare(first.hub, last.hub, seconds),
        postgresCore: coreShare(first.postgres, last.postgres, seconds),
        simulatorCore: coreShare(first.simulator, last.simulator, seconds),
        haproxyCore: haproxy && last.haproxy ? coreShare(haproxy, last.haproxy, seconds) : 0,
        hubPeakCore,
        hubPeakMib,
        end: last,
      };
    },
  };
}
