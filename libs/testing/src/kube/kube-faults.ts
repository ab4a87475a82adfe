/** Faults that a test asks the fake API server for. */
import type { StatusCause } from './status-error.ts';

export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly isWatch: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export type FaultKind =
  /** Answers with this status and a Status object. */
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
      readonly causes?: readonly StatusCause[];
    }
  /** Cuts the connection without an answer. */
  | { readonly kind: 'drop' }
  /** Carries the request out, then cuts the connection without an answer. */
  | { readonly kind: 'drop-after' }
  /** Takes effect, and is answered, only after this is resolved. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Answers 200 with this text. */
  | { readonly kind: 'text'; readonly text: string };

export interface KubeFault {
  readonly when: (request: SeenRequest) => boolean;
  readonly act: FaultKind;
  /** Default 1; Infinity until `clearFaults`. */
  readonly times?: number;
}

export class FaultList {
  private faults: { readonly fault: KubeFault; left: number }[] = [];

  add(fault: KubeFault): void {
    this.faults.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.faults = [];
  }

  take(request: SeenRequest): FaultKind | undefined {
    const found = this.faults.find(({ fault, left }) => left > 0 && fault.when(request));
    if (found === undefined) return undefined;
    found.left -= 1;
    return found.fault.act;
  }
}
