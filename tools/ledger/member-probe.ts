import { GapMeter } from './measure-gap.ts';
import { OverlapMeter } from './measure-overlap.ts';
import { PodProbe } from './probe-pod.ts';
import type { Connection, Member } from './watch-members.ts';

export interface MemberProbeOptions {
  readonly key: string;
  readonly periodMs: number;
  /** As it is now: passwords change. */
  readonly connection: () => Connection;
}

/** Probes every data pod at once; the pods that come and go are told by `follow`. */
export class MemberProbe {
  readonly gap: GapMeter;
  readonly overlap = new OverlapMeter();
  accepted = 0;
  readonly #options: MemberProbeOptions;
  readonly #probes = new Map<string, PodProbe>();

  constructor(options: MemberProbeOptions, startedAt: number) {
    this.#options = options;
    this.gap = new GapMeter(startedAt);
  }

  follow(members: readonly Member[]): void {
    const hosts = new Set(members.map((member) => member.host));
    for (const [host, probe] of this.#probes) {
      if (hosts.has(host)) continue;
      probe.close();
      this.#probes.delete(host);
    }
    for (const { host } of members) if (!this.#probes.has(host)) this.#probes.set(host, this.#start(host));
  }

  close(): void {
    for (const probe of this.#probes.values()) probe.close();
    this.#probes.clear();
  }

  #start(host: string): PodProbe {
    const { key, periodMs, connection } = this.#options;
    return new PodProbe({
      host,
      port: connection().port,
      credentials: connection,
      key,
      periodMs,
      onAccepted: (now) => {
        this.accepted += 1;
        this.gap.succeeded(now);
        this.overlap.accepted(host, now);
      },
      onRefused: () => this.overlap.refused(host),
    });
  }
}
