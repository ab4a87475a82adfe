/** What the cases of the Kubernetes contract share. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, KubeObject } from '#domain';
import { type KubeClient, KubeError } from '#kube';

export interface KubeContractWorld {
  readonly client: KubeClient;
  /** Empty, and the case's own. */
  readonly namespace: string;
}

export interface KubeContractCase {
  readonly name: string;
  readonly run: (world: KubeContractWorld) => Promise<void>;
}

export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

export const clock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

export const configMap = (namespace: string, name: string, data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name, labels: { suite: 'kube-contract' } },
  data,
});

export async function failureOf(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof KubeError, `a KubeError, not ${String(error)}`);
  return error;
}

export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 500; i += 1) {
    if (holds()) return;
    await wait(20);
  }
  assert.fail(`waited 10 s in vain: ${what}`);
}
