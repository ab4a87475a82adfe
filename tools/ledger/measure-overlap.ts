interface Stretch {
  readonly from: number;
  to: number;
}

/** How long two pods accepted writes at the same time: from the first success of the newer one to the last of the older. */
export class OverlapMeter {
  readonly #stretches = new Map<string, Stretch>();
  #longestMs = 0;

  get longestMs(): number {
    return this.#longestMs;
  }

  accepted(pod: string, now: number): void {
    const stretch = this.#stretches.get(pod) ?? { from: now, to: now };
    stretch.to = now;
    this.#stretches.set(pod, stretch);
    for (const [other, { from, to }] of this.#stretches) {
      if (other === pod) continue;
      const overlapMs = Math.min(to, stretch.to) - Math.max(from, stretch.from);
      this.#longestMs = Math.max(this.#longestMs, overlapMs);
    }
  }

  /** It is a replica, or gone: its stretch has ended with its last success. */
  refused(pod: string): void {
    this.#stretches.delete(pod);
  }
}
