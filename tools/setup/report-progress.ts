export type Log = (line: string) => void;

const PROGRESS_INTERVAL_MS = 5_000;

/**
 * Runs a long step, saying every five seconds how long it has been at it, and at its end how long it took.
 * `detail` adds what is known of how far it is; a step that ends within a second says nothing.
 */
export async function reportProgress<T>(
  log: Log,
  title: string,
  step: () => Promise<T>,
  detail?: () => string,
): Promise<T> {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  const timer = setInterval(() => {
    const more = detail?.() ?? '';
    log(`${title} … ${seconds()} s${more === '' ? '' : `, ${more}`}`);
  }, PROGRESS_INTERVAL_MS);
  try {
    const result = await step();
    if (performance.now() - startedAt >= 1_000) log(`${title}: done in ${seconds()} s`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
