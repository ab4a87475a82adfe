/** Metrics as plain data, before they are text. A family's samples stay together, as the exposition format demands. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of summaries. */
  readonly suffix?: '_sum' | '_count';
}

export interface MetricFamily {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'summary';
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

/** Collects samples by family; a family without samples is not there. */
export class MetricFamilies {
  readonly #families = new Map<string, { type: MetricFamily['type']; samples: MetricSample[] }>();

  /** `name` without the prefix `redis_`. A value that is no number is left out. */
  add(type: MetricFamily['type'], name: string, value: number, labels: MetricSample['labels'] = {}): void {
    this.addSample(type, name, { labels, value });
  }

  addSample(type: MetricFamily['type'], name: string, sample: MetricSample): void {
    if (Number.isNaN(sample.value)) return;
    const family = this.#families.get(name) ?? { type, samples: [] };
    this.#families.set(name, family);
    family.samples.push(sample);
  }

  list(): readonly MetricFamily[] {
    return [...this.#families].map(([name, { type, samples }]) => ({
      name: `redis_${name}`,
      type,
      help: `${name} metric`,
      samples,
    }));
  }
}
