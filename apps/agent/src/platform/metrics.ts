/**
 * Counters, gauges and histograms in Prometheus' text format. Own code because prom-client costs 2 MB resident in every
 * member cluster, for a dozen series. Source: prometheus.io "Text-based format".
 */
type Labels = Readonly<Record<string, string>>;

export interface Counter {
  increase(labels?: Labels, by?: number): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
}
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

/** A family as plain data, for instance of a Redis. */
export interface MetricFamilyText {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'summary';
  readonly help: string;
  readonly samples: readonly { readonly labels: Labels; readonly value: number; readonly suffix?: string }[];
}

export type LabelledValue = readonly [labels: Labels, value: number];

export interface Metrics {
  counter(name: string, help: string): Counter;
  gauge(name: string, help: string): Gauge;
  /** Read at each scrape. */
  gaugeOf(name: string, help: string, read: () => number): void;
  /** Read at each scrape, one value per set of labels: what is not read any more is gone at once. */
  gaugesOf(name: string, help: string, read: () => Iterable<LabelledValue>): void;
  /** `bounds` are upper bounds, ascending, without infinity. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram;
  render(): string;
}

interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  readonly lines: () => Iterable<readonly [name: string, labels: Labels, value: number]>;
}

/**
 * Series of one family, at most: labels come from the program's own words, so this many are a fault of ours, and the
 * memory of the agent and of Prometheus is kept from it. What is left out is counted.
 */
const MAX_SERIES = 500;
const OVERFLOW = 'atoll_agent_series_overflow_total';

export function createMetrics(): Metrics {
  const families = new Map<string, Family>();
  let overflow = 0;
  const createSeries = () => createBoundedSeries(() => (overflow += 1));
  const add = (name: string, family: Family): void => {
    if (families.has(name)) throw new Error(`metric ${name} exists already`);
    families.set(name, family);
  };
  return {
    counter(name, help) {
      const series = createSeries();
      add(name, { type: 'counter', help, lines: () => series.lines(name) });
      return { increase: (labels = {}, by = 1) => series.change(labels, (value) => value + by) };
    },
    gauge(name, help) {
      const series = createSeries();
      add(name, { type: 'gauge', help, lines: () => series.lines(name) });
      return { set: (value, labels = {}) => series.change(labels, () => value) };
    },
    gaugeOf(name, help, read) {
      add(name, { type: 'gauge', help, lines: () => [[name, {}, read()] as const] });
    },
    gaugesOf(name, help, read) {
      add(name, {
        type: 'gauge',
        help,
        lines: () => [...read()].map(([labels, value]) => [name, labels, value] as const),
      });
    },
    histogram(name, help, bounds) {
      const [buckets, sums, counts] = [createSeries(), createSeries(), createSeries()];
      add(name, {
        type: 'histogram',
        help,
        lines: () => [
          ...buckets.lines(`${name}_bucket`),
          ...sums.lines(`${name}_sum`),
          ...counts.lines(`${name}_count`),
        ],
      });
      return {
        observe(value, labels = {}) {
          for (const bound of [...bounds, Infinity]) {
            buckets.change({ ...labels, le: formatNumber(bound) }, (count) => count + (value <= bound ? 1 : 0));
          }
          sums.change(labels, (sum) => sum + value);
          counts.change(labels, (count) => count + 1);
        },
      };
    },
    render: () => {
      const all: [string, Family][] = [...families];
      if (overflow > 0) all.push([OVERFLOW, describeOverflow(overflow)]);
      return all.map(([name, family]) => renderFamily(name, family)).join('');
    },
  };
}

/** Families as they are told to Prometheus; `more` labels stand on each line. */
export const renderFamilies = (families: readonly MetricFamilyText[], more: Labels = {}): string =>
  families
    .map(({ name, type, help, samples }) => {
      const lines = () =>
        samples.map(({ labels, value, suffix = '' }) => [`${name}${suffix}`, { ...labels, ...more }, value] as const);
      return renderFamily(name, { type, help, lines });
    })
    .join('');

const describeOverflow = (count: number): Family => ({
  type: 'counter',
  help: 'Observations left out since their family has too many series.',
  lines: () => [[OVERFLOW, {}, count] as const],
});

function createBoundedSeries(onOverflow: () => void) {
  const values = new Map<string, { readonly labels: Labels; value: number }>();
  return {
    change(labels: Labels, step: (value: number) => number): void {
      const key = JSON.stringify(labels);
      if (!values.has(key) && values.size >= MAX_SERIES) {
        onOverflow();
        return;
      }
      const entry = values.get(key) ?? { labels, value: 0 };
      entry.value = step(entry.value);
      values.set(key, entry);
    },
    *lines(name: string): Generator<readonly [string, Labels, number]> {
      for (const { labels, value } of values.values()) yield [name, labels, value];
    },
  };
}

function renderFamily(name: string, { type, help, lines }: Family): string {
  const head = `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`;
  const body = [...lines()].map(([line, labels, value]) => `${line}${renderLabels(labels)} ${formatNumber(value)}\n`);
  return head + body.join('');
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const formatNumber = (value: number): string =>
  value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value);
