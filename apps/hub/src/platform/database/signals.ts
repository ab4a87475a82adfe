/**
 * Wake-up hints between the hub's replicas, over LISTEN/NOTIFY. They carry no truth: each receiver reads Postgres, and
 * polls behind them. NOTIFY takes a lock of the whole database at commit and is lost on reconnect (03), so hints are
 * sent apart from the writing transactions, merged, at most once in 20 ms.
 */
import type { DataSource, EntityManager } from 'typeorm';

import { afterCommit } from './after-commit.ts';

/** `desired`: agent ids whose desired state changed · `session`, `agent`: agent ids to look at again · `change`: change_log grew. */
export type SignalChannel = 'desired' | 'session' | 'agent' | 'change';
type Listener = (subjects: readonly string[]) => void;

export class Signals {
  readonly #listeners = new Map<SignalChannel, Set<Listener>>();
  #outgoing = new Map<SignalChannel, Set<string>>();
  #onOutgoing: () => void = () => undefined;
  readonly #gapListeners = new Set<() => void>();

  /** Returns the way to stop listening. A hint of this process is heard as well as those of others. */
  listen(channel: SignalChannel, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Hints of other replicas were lost for a while: look at everything that one may have been about. Returns the way to stop. */
  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  noteGap(): void {
    for (const listener of this.#gapListeners) listener();
  }

  /** Tell every replica, this one first, after the commit of `tx`. */
  sendAfterCommit(tx: EntityManager, channel: SignalChannel, subject: string): void {
    afterCommit(tx, `${channel} ${subject}`, () => this.send(channel, subject));
  }

  send(channel: SignalChannel, subject: string): void {
    this.deliver(channel, [subject]);
    const subjects = this.#outgoing.get(channel) ?? new Set();
    this.#outgoing.set(channel, subjects.add(subject));
    this.#onOutgoing();
  }

  /** Hand a hint to the listeners of this process. */
  deliver(channel: SignalChannel, subjects: readonly string[]): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(subjects);
  }

  /** What has not gone to the other replicas yet; empties the list. Used by the connection that sends NOTIFY. */
  takeOutgoing(): ReadonlyMap<SignalChannel, ReadonlySet<string>> {
    const outgoing = this.#outgoing;
    this.#outgoing = new Map();
    return outgoing;
  }

  onOutgoing(callback: () => void): void {
    this.#onOutgoing = callback;
  }
}

const signalsByDatabase = new WeakMap<DataSource, Signals>();

/** One per data source, so that any write can wake others without being handed them. */
export function signalsOf(dataSource: DataSource): Signals {
  const found = signalsByDatabase.get(dataSource) ?? new Signals();
  signalsByDatabase.set(dataSource, found);
  return found;
}

/** Another pool of the same database: what is written there wakes the same listeners. */
export const shareSignals = (from: DataSource, to: DataSource): void => void signalsByDatabase.set(to, signalsOf(from));
