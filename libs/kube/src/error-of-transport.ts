/** Names why no answer came, from Node's error codes. */
import { ownValue } from '#domain';
import { KubeError } from './kube-error.ts';

const REASON_BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'REFUSED',
  ECONNRESET: 'CLOSED',
  EPIPE: 'CLOSED',
  ETIMEDOUT: 'TIMEOUT',
};
const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO)/;

export function errorOfTransport(what: string, error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  const code = codeOf(error);
  const reason = ownValue(REASON_BY_CODE, code) ?? (TLS_CODE.test(code) ? 'TLS' : 'UNREACHABLE');
  const text = error instanceof Error && error.message !== '' ? error.message : String(error);
  return new KubeError({ reason, message: `${what}: ${text}${code === '' ? '' : ` (${code})`}`, cause: error });
}

/** Several addresses that all failed make an AggregateError: its first cause speaks for all. */
function codeOf(error: unknown): string {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors === undefined ? '' : codeOf(errors[0]);
}
