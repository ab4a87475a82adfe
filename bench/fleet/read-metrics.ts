import type { HubProcess } from '../../tools/fleet/hub-process.ts';

/** The hub's own metrics by name (with labels, as they are printed). */
export async function readMetrics(hub: HubProcess): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(hub.metricsUrl, { signal: AbortSignal.timeout(30_000) });
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}
