/**
 * Connections that nobody has proven to be theirs yet: of agents before a Hello or Enrol that was accepted, of the API before
 * a valid token. Each costs memory and a descriptor, and whoever opens them pays nothing. So there are so many at most;
 * beyond that the address with the most of them loses its oldest, as it has had the longest time. Connections that are known
 * are not counted: no flood can take anything from them.
 */
import { sourceOf } from './address-source.rules.ts';

/** What tells a connection from all others of one listener; absent once the peer has gone. */
interface PeerAddress {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

export class UnknownPeers<T extends PeerAddress> {
  readonly #limit: number;
  /** By source; in each by peer, the oldest first. */
  readonly #bySource = new Map<string, Map<string, T>>();
  readonly #keys = new Map<string, string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#keys.size;
  }

  /** Returns the one that has to go for it. */
  add(peer: T): T | undefined {
    const [source, key] = [sourceOf(peer.remoteAddress), keyOf(peer)];
    const peers = this.#bySource.get(source) ?? new Map<string, T>();
    this.#bySource.set(source, peers.set(key, peer));
    this.#keys.set(key, source);
    if (this.count <= this.#limit) return undefined;
    const oldest = this.#findLargest()?.values().next().value;
    if (oldest !== undefined) this.#forget(keyOf(oldest));
    return oldest;
  }

  /** Returns a way to take it off the list that works when its address cannot be read any more. */
  forgetterOf(peer: PeerAddress): () => void {
    const key = keyOf(peer);
    return () => this.#forget(key);
  }

  #forget(key: string): void {
    const source = this.#keys.get(key);
    if (source === undefined) return;
    this.#keys.delete(key);
    const peers = this.#bySource.get(source);
    peers?.delete(key);
    if (peers?.size === 0) this.#bySource.delete(source);
  }

  #findLargest(): ReadonlyMap<string, T> | undefined {
    let largest: ReadonlyMap<string, T> | undefined;
    for (const peers of this.#bySource.values()) if (peers.size > (largest?.size ?? 0)) largest = peers;
    return largest;
  }
}

const keyOf = ({ remoteAddress, remotePort }: PeerAddress): string => `${remoteAddress} ${remotePort}`;
