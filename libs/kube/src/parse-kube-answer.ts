/** Turns an HTTP answer of the API server into an object or a KubeError. */
import type { HttpAnswer } from './exchange-http.ts';
import { KubeError, type KubeStatus } from './kube-error.ts';

/** Longest part of a foreign error page that goes into a message. */
const EXCERPT_LENGTH = 200;

/** The parsed JSON of a 2xx answer, its text when it is no JSON; throws a KubeError for every other status. */
export function parseKubeAnswer(what: string, answer: HttpAnswer): unknown {
  const value = parseJson(answer.text);
  if (answer.status >= 200 && answer.status <= 299) return value ?? answer.text;
  const status = isStatus(value) ? value : undefined;
  const retryAfterSeconds = Number(answer.headers['retry-after']);
  throw errorOfStatus(what, answer.status, status, {
    excerpt: answer.text.slice(0, EXCERPT_LENGTH),
    ...(retryAfterSeconds > 0 && { retryAfterMs: retryAfterSeconds * 1000 }),
  });
}

/** The error of a Status object, which also travels inside a watch. */
export function errorOfStatus(
  what: string,
  code: number,
  status: KubeStatus | undefined,
  extra: { readonly excerpt?: string; readonly retryAfterMs?: number } = {},
): KubeError {
  return new KubeError({
    code,
    reason: status?.reason ?? `HTTP_${code}`,
    message: `${what}: ${status?.message ?? `HTTP ${code} ${extra.excerpt ?? ''}`.trim()}`,
    ...(status !== undefined && { status }),
    ...(extra.retryAfterMs !== undefined && { retryAfterMs: extra.retryAfterMs }),
  });
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const isStatus = (value: unknown): value is KubeStatus =>
  typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'Status';
