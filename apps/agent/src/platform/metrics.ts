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

export interface Metrics {
  counter(name: string, help: string): Counter;
  gauge(name: string, help: string): Gauge;
  /** Read at each scrape. */
  gaugeOf(name: string, help: string, read: () => number): void;
  /** `bounds` are upper bounds, ascending, without infinity. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram;
  render(): string;
}

interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly lines: () => Iterable<readonly [name: string, labels: Labels, value: number]>;
}

export function createMetrics(): Metrics {
  const families = new Map<string, Family>();
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
    render: () => [...families].map(([name, family]) => renderFamily(name, family)).join(''),
  };
}

function createSeries() {
  const values = new Map<string, { readonly labels: Labels; value: number }>();
  return {
    change(labels: Labels, step: (value: number) => number): void {
      const key = JSON.stringify(labels);
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
