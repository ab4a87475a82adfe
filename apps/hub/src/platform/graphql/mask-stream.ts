import type { Logger } from 'pino';
import { ApiError } from './api-error.ts';
import { explainFailure } from './explain-failure.ts';

/** The values of a subscription. Mercurius hands errors of a stream to the client as they are: unknown ones are masked. */
export async function* maskStream<T>(
  values: AsyncGenerator<T>,
  { log, requestId }: { readonly log: Logger; readonly requestId: string },
): AsyncGenerator<T> {
  try {
    yield* values;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    log.error({ err: error, requestId }, 'a subscription failed');
    const { code, message, reason } = explainFailure(error, requestId);
    throw new ApiError(code, message, reason);
  }
}
