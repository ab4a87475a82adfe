import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';
import { addProcessMetrics } from './process-metrics.ts';

describe('the metrics', () => {
  it('are written in the text format of Prometheus', () => {
    const metrics = createMetrics();
    const passes = metrics.counter('passes_total', 'Passes.\nAll.');
    passes.increase({ outcome: 'ok' });
    passes.increase({ outcome: 'ok' }, 2);
    passes.increase({ outcome: 'a "quoted\\ \n' });
    metrics.gauge('depth', 'Depth.').set(1.5);
    metrics.gaugeOf('age', 'Age.', () => 7);
    expect(metrics.render()).toBe(
      [
        '# HELP passes_total Passes.\\nAll.',
        '# TYPE passes_total counter',
        'passes_total{outcome="ok"} 3',
        'passes_total{outcome="a \\"quoted\\\\ \\n"} 1',
        '# HELP depth Depth.',
        '# TYPE depth gauge',
        'depth 1.5',
        '# HELP age Age.',
        '# TYPE age gauge',
        'age 7',
        '',
      ].join('\n'),
    );
  });

  it('count a histogram in cumulative buckets', () => {
    const metrics = createMetrics();
    const seconds = metrics.histogram('pass_seconds', 'Duration.', [0.1, 1]);
    for (const value of [0.1, 0.5, 3]) seconds.observe(value);
    expect(metrics.render().split('\n').slice(2, -1)).toEqual([
      'pass_seconds_bucket{le="0.1"} 1',
      'pass_seconds_bucket{le="1"} 2',
      'pass_seconds_bucket{le="+Inf"} 3',
      'pass_seconds_sum 3.6',
      'pass_seconds_count 3',
    ]);
  });

  it('keep a family bounded, and count what is left out', () => {
    const metrics = createMetrics();
    const passes = metrics.counter('passes_total', 'Passes.');
    for (let index = 0; index < 510; index += 1) passes.increase({ index: String(index) });
    passes.increase({ index: '0' });
    const lines = metrics.render().split('\n');
    expect(lines.filter((line) => line.startsWith('passes_total{'))).toHaveLength(500);
    expect(lines).toContain('passes_total{index="0"} 2');
    expect(lines).toContain('atoll_agent_series_overflow_total 10');
  });

  it('forget at once what is not read any more', () => {
    const metrics = createMetrics();
    let pods = ['a', 'b'];
    metrics.gaugesOf('pod_up', 'Up.', () => pods.map((pod) => [{ pod }, 1] as const));
    expect(metrics.render()).toContain('pod_up{pod="b"} 1');
    pods = ['a'];
    expect(metrics.render()).not.toContain('pod="b"');
  });

  it('refuse one name for two things', () => {
    const metrics = createMetrics();
    metrics.gauge('a', 'A.');
    expect(() => metrics.counter('a', 'A.')).toThrow('exists already');
  });

  it('say what the process uses', () => {
    const metrics = createMetrics();
    addProcessMetrics(metrics, '1.2.3');
    const text = metrics.render();
    expect(text).toContain('atoll_agent_info{version="1.2.3"} 1');
    expect(Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(1e6);
  });
});
