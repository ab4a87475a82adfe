/**
 * The one error of every Kubernetes request. Callers decide by the questions below, never by a message text; a request
 * that got no answer is `isUnreachable`, which proves nothing about whether it was carried out.
 */

/** A field that server-side apply would not take from its manager. */
export interface FieldConflict {
  /** `spec.size`, `spec.config.maxmemory`, `spec.users[name=app].password`; as Kubernetes writes it without the leading dot. */
  readonly path: string;
  /** Field manager that owns it. */
  readonly manager: string;
}

/** Kubernetes' Status object, the parts that are read. */
export interface KubeStatus {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly kind?: string;
    readonly name?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  };
}

export class KubeError extends Error {
  override readonly name = 'KubeError';
  /** HTTP status, or undefined when no answer came. */
  readonly code: number | undefined;
  /** Kubernetes' reason (`NotFound`, `Conflict`, `Invalid`, …), or TIMEOUT, ABORTED, REFUSED, CLOSED, TLS, UNREACHABLE. */
  readonly reason: string;
  readonly status: KubeStatus | undefined;
  /** From Retry-After or details.retryAfterSeconds. */
  readonly retryAfterMs: number | undefined;

  constructor(fields: {
    message: string;
    reason: string;
    code?: number;
    status?: KubeStatus;
    retryAfterMs?: number;
    cause?: unknown;
  }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.reason = fields.reason;
    this.status = fields.status;
    this.retryAfterMs = fields.retryAfterMs ?? retryAfterOf(fields.status);
  }

  /** No answer came, or a gateway or a starting server spoke in place of the API: nothing is known of the outcome. */
  get isUnreachable(): boolean {
    return this.code === undefined ? this.reason !== 'ABORTED' : [502, 503, 504].includes(this.code);
  }
  get isAborted(): boolean {
    return this.code === undefined && this.reason === 'ABORTED';
  }
  isNotFound(): boolean {
    return this.code === 404;
  }
  /** resourceVersion or uid precondition failed, or another field manager owns a field (see fieldConflicts). */
  isConflict(): boolean {
    return this.code === 409 && this.reason !== 'AlreadyExists';
  }
  isAlreadyExists(): boolean {
    return this.code === 409 && this.reason === 'AlreadyExists';
  }
  /** The resourceVersion is too old: list again. */
  isGone(): boolean {
    return this.code === 410 || this.reason === 'Expired';
  }
  isForbidden(): boolean {
    return this.code === 403 || this.code === 401;
  }
  /** Nothing can be created in this namespace any more. */
  isNamespaceTerminating(): boolean {
    const causes = this.status?.details?.causes ?? [];
    return this.code === 403 && causes.some((cause) => cause.reason === 'NamespaceTerminating');
  }
  /** The object itself is refused (CRD validation, CEL, admission): trying again cannot mend it. */
  isInvalid(): boolean {
    return this.code === 422 || this.code === 400;
  }
  /** 429: throttled, or an eviction that a disruption budget forbids now. */
  isTooManyRequests(): boolean {
    return this.code === 429;
  }

  /**
   * The field, as `status.rollout`, for which server-side apply refused the whole object, since the definition does not
   * declare it; undefined when this is no such refusal. It has no reason and no causes, so its text is all there is.
   */
  get undeclaredField(): string | undefined {
    return /\s\.(\S.*?): field not declared in schema/.exec(this.status?.message ?? '')?.[1];
  }

  /** Fields that server-side apply left to their managers; empty when this is no such conflict. */
  get fieldConflicts(): readonly FieldConflict[] {
    const causes = this.status?.details?.causes ?? [];
    return causes
      .filter((cause) => cause.reason === 'FieldManagerConflict')
      .map((cause) => ({ path: (cause.field ?? '').replace(/^\./, ''), manager: managerOf(cause.message ?? '') }));
  }
}

/** Source: apiserver's managedfields conflict text, `conflict with "MANAGER" with subresource … using GROUP/VERSION at TIME`. */
function managerOf(message: string): string {
  const quoted = /conflict with ("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
  if (quoted === undefined) return '';
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

const retryAfterOf = (status: KubeStatus | undefined): number | undefined => {
  const seconds = status?.details?.retryAfterSeconds;
  return seconds === undefined ? undefined : seconds * 1000;
};

export const isKubeError = (error: unknown): error is KubeError => error instanceof KubeError;
