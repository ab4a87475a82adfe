/**
 * Brings one CustomResourceDefinition to at least our version: never an older over a newer one; one that is being
 * deleted is waited for (its objects lose their finalizers meanwhile, which is the operator's work) and then made anew.
 * Goes on through outages; ends with the definition established, with a refusal that time cannot mend, or by the signal.
 */
import type { KubeObject } from '#domain';
import { createBackoff, pause } from './backoff.ts';
import { type CrdState, crdSchemaHash, crdStateOf, crdVersionOf } from './custom-resource-definition.ts';
import type { KubeClient } from './kube-client.ts';
import { KubeError } from './kube-error.ts';
import { RESOURCE } from './kube-resource.ts';

export interface EnsureCrdOptions {
  readonly client: KubeClient;
  /** As in its YAML, with the version annotation. */
  readonly definition: KubeObject;
  readonly fieldManager: string;
  readonly signal: AbortSignal;
  /** Called with each state that is waited on, TERMINATING above all. */
  readonly onState?: (state: CrdState) => void;
  /** Each failed attempt that is going to be repeated. */
  readonly onFailure?: (error: unknown, retryInMs: number) => void;
  /** Longest pause between two looks while waiting; the first is 50. Default 2,000. */
  readonly pollMs?: number;
  readonly random?: () => number;
}

export interface EnsureCrdResult {
  /** KEPT_NEWER: the live one is newer, nothing was written. */
  readonly action: 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'KEPT_NEWER';
  /** Both of the live definition. */
  readonly schemaHash: string;
  readonly version: number;
}

type Action = EnsureCrdResult['action'];

/** Rejects with the refusal (forbidden, invalid) or, when `signal` is aborted, with a KubeError of reason ABORTED. */
export async function ensureCustomResourceDefinition(options: EnsureCrdOptions): Promise<EnsureCrdResult> {
  const random = options.random ?? Math.random;
  const failing = createBackoff({ first: 200, longest: 10_000 }, random);
  const waiting = createBackoff({ first: 50, longest: options.pollMs ?? 2_000 }, random);
  let written: Action | undefined;
  for (;;) {
    let waitMs: number;
    try {
      const step = await takeStep(options, written);
      if ('schemaHash' in step) return step;
      if (step.written !== written) waiting.reset();
      written = step.written;
      failing.reset();
      waitMs = waiting.next();
    } catch (error) {
      if (isFinal(error)) throw error;
      waitMs = failing.next();
      options.onFailure?.(error, waitMs);
    }
    await pause(waitMs, options.signal);
  }
}

const isFinal = (error: unknown): boolean =>
  !(error instanceof KubeError) || error.isAborted || error.isForbidden() || error.isInvalid();

async function takeStep(
  options: EnsureCrdOptions,
  written: Action | undefined,
): Promise<EnsureCrdResult | { readonly written: Action | undefined }> {
  const { client, definition, signal } = options;
  const { name } = definition.metadata;
  const live = await client.find(RESOURCE.customResourceDefinition, { name }, { signal });
  const action = decideCrdAction(definition, live, written !== undefined);
  if (action === 'CREATED' || action === 'UPDATED') {
    await client.apply(definition, { fieldManager: options.fieldManager, force: true, signal });
    return { written: action };
  }
  const state = crdStateOf(live);
  if (action === 'WAIT' || state.kind !== 'PRESENT' || !state.established) {
    options.onState?.(state);
    return { written };
  }
  const told = action === 'UNCHANGED' ? (written ?? action) : action;
  return { action: told, schemaHash: state.schemaHash, version: state.version };
}

/**
 * WAIT: it is being deleted. `isWritten`: we have written it already; a schema that the server stores in its own wording
 * must then not be written for ever. Exported for its tests.
 */
export function decideCrdAction(ours: KubeObject, live: KubeObject | undefined, isWritten: boolean): Action | 'WAIT' {
  if (live === undefined) return 'CREATED';
  if (live.metadata.deletionTimestamp !== undefined) return 'WAIT';
  const [ourVersion, liveVersion] = [crdVersionOf(ours), crdVersionOf(live)];
  if (liveVersion > ourVersion) return 'KEPT_NEWER';
  const isSame = liveVersion === ourVersion && (isWritten || crdSchemaHash(live) === crdSchemaHash(ours));
  return isSame ? 'UNCHANGED' : 'UPDATED';
}
