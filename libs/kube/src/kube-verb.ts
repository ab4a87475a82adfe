/** What the verbs of KubeClient share: how they send, and which options go down to the request. */
import type { RawRequest, RequestOptions } from './kube-client.ts';

/** Sends and takes the answer at its word: the API server is trusted to return the kind it was asked for. */
export type Send = <T>(request: RawRequest) => Promise<T>;

export const early = ({ signal, timeoutMs }: RequestOptions): RequestOptions => ({
  ...(signal !== undefined && { signal }),
  ...(timeoutMs !== undefined && { timeoutMs }),
});
