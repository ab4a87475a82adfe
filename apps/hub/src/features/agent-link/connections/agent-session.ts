/**
 * One accepted session: what its agent sends after Welcome, in order, each frame after the one before it is done. Status
 * and events are the exception: they are handed to the replica's common commits and acked after them, so that no agent
 * waits for another.
 */
import type { AgentMessage, DesiredAck, EventBatch, InventoryChunk, PartlyRead, StatusBatch, Welcome } from '#protocol';
import type { Logger } from 'pino';

import { acceptKey } from '../sessions/accept-key.ts';
import { type AgentPeer, CLOSE } from '../admission/agent-peer.ts';
import type { Beginning, DesiredSender } from '../desired/desired-sender.ts';
import { InventoryParts } from './inventory-parts.ts';
import type { LinkParts } from './link-parts.ts';
import type { AgentRow } from '../sessions/agent-row.ts';
import { type FencedReason, whyEnded } from '../sessions/session-end.rules.ts';
import { UnreadableItems } from '../status/unreadable-items.ts';

export type SessionEnd = FencedReason | 'RESTART';
const CLOSE_CODE = { RESTART: CLOSE.restart, TAKEN_OVER: CLOSE.takenOver, GIVEN_UP: CLOSE.fenced } as const;
/** Status batches an agent may have unacked. */
export const STATUS_WINDOW = 2;
/** An agent that sends status beyond its window is not read on while this many batches of it wait for a commit. */
const MAX_STATUS_IN_FLIGHT = 4 * STATUS_WINDOW;
/** One comparison of inventories a minute: two sides that cannot agree must not do nothing else. */
const COMPARE_PAUSE_MS = 60_000;
/** Of one frame, in the log. */
const MAX_NAMED_ITEMS = 10;

export interface SessionParts {
  readonly agent: AgentRow;
  readonly sessionNo: number;
  readonly peer: AgentPeer;
  readonly sender: DesiredSender;
  readonly link: LinkParts;
  readonly inventory: 'SYNCED' | 'UNKNOWN';
  readonly log: Logger;
}

export class AgentSession {
  readonly agentId: string;
  readonly sessionNo: number;
  readonly sender: DesiredSender;
  readonly #parts: SessionParts;
  /** What the agent tells of its inventory, while this session began with one and it is not told yet. */
  #inventoryParts: InventoryParts | undefined;
  #toldUnasked = false;
  readonly #unreadable = new UnreadableItems();
  #inventory: 'SYNCED' | 'UNKNOWN';
  #statusInFlight = 0;
  #eventsInFlight = 0;
  #ended = false;

  constructor(parts: SessionParts) {
    this.agentId = parts.agent.id;
    this.sessionNo = parts.sessionNo;
    this.sender = parts.sender;
    this.#parts = parts;
    this.#inventory = parts.inventory;
  }

  begin(mode: Welcome['mode'], appliedRevision: number, beginning: Beginning): void {
    if (mode === 'INVENTORY') this.#inventoryParts = new InventoryParts();
    this.sender.start(mode, appliedRevision, beginning);
  }

  /** The message is one of an agent that already said Hello. */
  async handle(message: AgentMessage): Promise<void> {
    switch (message.type) {
      case 'Heartbeat':
        return this.#setInventory(message.payload.inventory);
      case 'DesiredAck':
        return this.#bookAck(message.payload);
      case 'StatusBatch':
        return this.#takeStatus(message.payload, message.nonce);
      case 'InventoryChunk':
        return this.#takeInventory(message.payload);
      case 'EventBatch':
        return this.#takeEvents(message.payload, message.nonce);
      case 'KeyRotation':
        return this.#rotateKey(message.payload.newPublicKey, message.payload.signature, message.nonce);
      case 'Hello':
      case 'Enrol':
        this.#parts.log.warn({ type: message.type }, 'a second handshake in one session is ignored');
    }
  }

  /** Items of this message say less than their agent meant, or nothing: a person is told, and the rest counts. */
  tellUnreadable(type: AgentMessage['type'], items: readonly PartlyRead[]): void {
    const { link, log, peer } = this.#parts;
    const events = this.#unreadable.toEvents(type, items, link.clock.nowMs());
    if (events.length === 0) return;
    log.warn(
      { type, count: items.length, items: items.slice(0, MAX_NAMED_ITEMS) },
      'items of an agent could not be read in full',
    );
    const lost = type === 'StatusBatch' ? items.filter(({ kept }) => !kept) : [];
    if (lost.length > 0) void link.status.noteObjects(this.agentId, lost, 'UNREADABLE');
    link.events
      .add({ session: this, items: events }, () => peer.isOpen && !this.#ended)
      .catch((error: unknown) => log.error({ err: error }, 'what could not be read was not told to people'));
  }

  /** Tells why, and closes. The row of the session is left to whoever took it, or to `close`. */
  end(reason: SessionEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.sender.stop();
    const { peer, log } = this.#parts;
    log.info({ reason }, 'session ends');
    if (reason === 'QUARANTINED' || reason === 'REVOKED') {
      void peer.send('Refused', {
        code: `AGENT_${reason}`,
        message: `this agent is ${reason.toLowerCase()}`,
        terminal: true,
      });
      peer.close(CLOSE.refused, `AGENT_${reason}`);
    } else {
      peer.close(CLOSE_CODE[reason], reason);
    }
  }

  /** What this session said was not written: somebody else has it, or nobody may. */
  async endFenced(): Promise<void> {
    const { link } = this.#parts;
    this.sender.stop();
    const view = (await link.turns.run(() => link.sessions.findFencedOrBehind([this]))).get(this.agentId);
    this.end((view && whyEnded(view)) ?? 'TAKEN_OVER');
  }

  /** The agent ends this session and begins another one after this time; it counts also when the hub ends it first. */
  askBack(afterMs: number): void {
    void this.#parts.peer.send('Reconnect', { afterMs });
  }

  drain(afterMs: number): void {
    void this.#parts.peer.send('Drain', { afterMs });
  }

  /** The socket is closed. */
  async close(): Promise<void> {
    this.#ended = true;
    this.sender.stop();
    await this.#parts.link.sessions.disconnect(this, this.#parts.link.clock.nowMs());
  }

  #setInventory(inventory: 'SYNCED' | 'UNKNOWN'): void {
    if (inventory === this.#inventory) return;
    this.#inventory = inventory;
    const { agentId, sessionNo } = this;
    this.#parts.link.inventories.note({ agentId, sessionNo, inventory });
    if (inventory === 'SYNCED') this.sender.askForDigest();
  }

  async #bookAck(ack: DesiredAck): Promise<void> {
    const { link } = this.#parts;
    const comparable = this.#inventory === 'SYNCED' && this.sender.isComparable(ack);
    const about = { comparable, nowMs: link.clock.nowMs() };
    const result = await link.turns.run(() => link.book.book(this, ack, this.sender.sent, about));
    if (result.fenced) return this.endFenced();
    this.sender.onAcked(ack);
    if (result.compareReason) await this.#compareSoon(result.compareReason);
  }

  /** INVENTORY is a way to begin a session: the agent is asked to begin another one. */
  async #compareSoon(reason: string): Promise<void> {
    const { link, log } = this.#parts;
    link.metrics.inventories.inc({ reason });
    log.warn({ reason }, 'hub and agent disagree about what was written: their inventories are compared');
    const pauseMs = await link.inventory.pauseBeforeNext(this.agentId, COMPARE_PAUSE_MS, link.clock.nowMs());
    setTimeout(() => this.askBack(0), pauseMs).unref();
  }

  async #takeInventory(chunk: InventoryChunk): Promise<void> {
    const { link, log } = this.#parts;
    if (!this.#inventoryParts) {
      if (!this.#toldUnasked)
        log.warn({ objects: chunk.objects.length }, 'an inventory that nobody asked for is ignored');
      this.#toldUnasked = true;
      return;
    }
    this.#inventoryParts.add(chunk.objects);
    if (!chunk.last) return;
    const { objects } = this.#inventoryParts;
    this.#inventoryParts = undefined;
    const result = await link.turns.run(() => link.inventory.book(this, objects, link.clock.nowMs()));
    if (result.fenced) return this.endFenced();
    log.warn({ objects: objects.length, verdicts: result.counts }, 'inventories were compared');
    this.sender.onInventoryBooked();
  }

  /** Resolves at once, unless the agent sends more than the commits take: then its frames wait in its own socket. */
  async #takeStatus(batch: StatusBatch, nonce: string): Promise<void> {
    const { link, log, peer } = this.#parts;
    this.#statusInFlight += 1;
    if (this.#statusInFlight > STATUS_WINDOW) log.debug('the agent does not keep to the status window');
    const inventory = batch.inventory ?? 'SYNCED';
    const done = link.status.add({ session: this, batch: { ...batch, inventory } });
    const settled = done
      .then(async (result) => {
        this.#statusInFlight -= 1;
        if (result === 'FENCED') return this.endFenced();
        const inSync = result === 'IN_SYNC' ? { inSync: true } : {};
        await peer.send('StatusAck', { counter: batch.counter, ...inSync }, nonce);
        if (result === 'BEHIND') await this.#askForAll();
      })
      .catch((error: unknown) => log.error({ err: error }, 'a status batch was lost; the agent sends it again'));
    if (link.status.isBehind) void peer.send('Slow', { pauseMs: 1_000 });
    if (this.#statusInFlight >= MAX_STATUS_IN_FLIGHT) await settled;
  }

  /** As with status: an agent that keeps to one batch at a time holds up nothing of its own either. */
  async #takeEvents({ counter, items }: EventBatch, nonce: string): Promise<void> {
    const { link, log, peer } = this.#parts;
    this.#eventsInFlight += 1;
    const settled = link.events
      .add({ session: this, items }, () => peer.isOpen && !this.#ended)
      .then(async (result) => {
        if (result === 'FENCED') return this.endFenced();
        if (result === 'STORED') await peer.send('EventAck', { counter }, nonce);
      })
      .catch((error: unknown) => log.error({ err: error }, 'an event batch was lost; the agent sends it again'))
      .finally(() => (this.#eventsInFlight -= 1));
    if (this.#eventsInFlight > 1) await settled;
  }

  /** Something of this session that was acked is not stored any more: a database that lost its last commits. */
  async #askForAll(): Promise<void> {
    this.#parts.log.warn(
      { code: 'STATUS_LOST' },
      'status that was acked is not stored; the agent tells all of it again',
    );
    await this.#parts.peer.send('StatusResync', {});
  }

  async #rotateKey(newPublicKey: string, signature: string, nonce: string): Promise<void> {
    const { agent, link, peer } = this.#parts;
    if (await acceptKey(link.sessions, this, { newPublicKey, signature })) {
      await peer.send('KeyAccepted', { publicKey: newPublicKey }, nonce);
      return;
    }
    this.#parts.log.warn({ agentId: agent.id }, 'a new key was refused: not signed by one that is accepted');
    await peer.send(
      'Refused',
      { code: 'SIGNATURE_INVALID', message: 'the new key is not signed by the old', terminal: false },
      nonce,
    );
  }
}
