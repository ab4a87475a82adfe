/** What a process says of itself, under the names that Prometheus' own clients use, so that ready-made dashboards fit. */
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

export function addProcessMetrics(metrics: Metrics, version: string): void {
  const startedAtSeconds = Date.now() / 1000 - process.uptime();
  let last: EventLoopUtilization | undefined;
  metrics.gaugeOf('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  metrics.gaugeOf('process_start_time_seconds', 'Start of the process, seconds since 1970.', () => startedAtSeconds);
  metrics.gaugeOf('process_cpu_seconds_total', 'CPU time used, user and system.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.gaugeOf('nodejs_eventloop_utilization', 'Busy share of the event loop since the last scrape, 0 to 1.', () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  });
  metrics.gauge('atoll_agent_info', 'Constant 1; the version is in the label.').set(1, { version });
}
