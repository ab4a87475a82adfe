/**
 * Parsed and compiled documents, bounded by their bytes. When there is no room, the principal that takes the most loses what it
 * has not used for longest: whatever one caller sends, it pushes out its own documents, and not those of the others.
 */
import type { DocumentNode, ExecutionResult } from 'graphql';
import type { Runs } from './compile.rules.ts';

export type RunCompiled = (
  root: unknown,
  context: unknown,
  variables: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult> | ExecutionResult;

export interface KeptDocument {
  readonly document: DocumentNode;
  readonly fields: number;
  bytes: number;
  runs?: Runs;
  compiled?: RunCompiled;
}

interface Share {
  bytes: number;
  /** What was used last comes last. */
  readonly kept: Map<string, KeptDocument>;
}

export class DocumentStore {
  readonly #maxBytes: number;
  readonly #shares = new Map<string, Share>();
  readonly #owners = new Map<string, string>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#owners.size;
  }

  bytesOf(owner: string): number {
    return this.#shares.get(owner)?.bytes ?? 0;
  }

  get(key: string): KeptDocument | undefined {
    const share = this.#shares.get(this.#owners.get(key) ?? '');
    const kept = share?.kept.get(key);
    if (!share || !kept) return undefined;
    share.kept.delete(key);
    share.kept.set(key, kept);
    return kept;
  }

  /** It belongs to whom sent it first. */
  put(key: string, owner: string, kept: KeptDocument): void {
    this.#remove(key);
    const share = this.#shares.get(owner) ?? { bytes: 0, kept: new Map() };
    this.#shares.set(owner, share);
    this.#owners.set(key, owner);
    share.kept.set(key, kept);
    this.#count(share, kept.bytes);
    this.#makeRoom();
  }

  /** It takes so many bytes more than it did; it may be pushed out for that. */
  grow(key: string, bytes: number): void {
    const share = this.#shares.get(this.#owners.get(key) ?? '');
    const kept = share?.kept.get(key);
    if (!share || !kept) return;
    kept.bytes += bytes;
    this.#count(share, bytes);
    this.#makeRoom();
  }

  #makeRoom(): void {
    while (this.#bytes > this.#maxBytes) {
      const [largest] = [...this.#shares.values()].toSorted((one, other) => other.bytes - one.bytes);
      const [oldest] = largest?.kept.keys() ?? [];
      if (oldest === undefined) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const owner = this.#owners.get(key);
    const share = owner === undefined ? undefined : this.#shares.get(owner);
    const kept = share?.kept.get(key);
    if (owner === undefined || !share || !kept) return;
    this.#owners.delete(key);
    share.kept.delete(key);
    this.#count(share, -kept.bytes);
    if (share.kept.size === 0) this.#shares.delete(owner);
  }

  #count(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#bytes += bytes;
  }
}
