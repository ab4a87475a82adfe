/**
 * Keeps the agent's state in ConfigMap atoll-agent-state. Tombstones and counted deletes are written before they are
 * acted on or acked; a raised revision alone may wait, since a hub that is told an older one only sends again what is
 * idempotent. Writes are in order, one at a time.
 */
import { AGENT_STATE_CONFIG_MAP, FIELD_MANAGER, LABEL } from '#domain';
import { RESOURCE } from '#kube';
import { EMPTY_STATE, formatState, parseState } from './agent-state.ts';
import type { AgentState } from './agent-state.ts';
import type { MemberApi } from './member-api.ts';

/** How long a raised revision may wait for its write. */
const LAZY_WRITE_MS = 5_000;

export class AgentStateStore {
  /** By Kubernetes uid: when a delete was counted. Who tries it again counts it once. */
  readonly countedDeletes = new Map<string, number>();
  readonly #api: MemberApi;
  readonly #namespace: string;
  #state: AgentState = EMPTY_STATE;
  #written = '';
  #chain: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(api: MemberApi, namespace: string) {
    this.#api = api;
    this.#namespace = namespace;
  }

  get current(): AgentState {
    return this.#state;
  }

  /** Reads what the last process left. Throws when the API server does not answer. */
  async load(): Promise<void> {
    const found = await this.#api.find(RESOURCE.configMap, {
      namespace: this.#namespace,
      name: AGENT_STATE_CONFIG_MAP,
    });
    const data = (found?.['data'] ?? {}) as Readonly<Record<string, string>>;
    this.#state = parseState(data);
    this.#written = found === undefined ? '' : JSON.stringify(formatState(this.#state));
  }

  /** Takes the change at once and writes it soon. */
  change(step: (state: AgentState) => AgentState): void {
    this.#state = step(this.#state);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.flush().catch(() => this.change((state) => state));
    }, LAZY_WRITE_MS).unref();
  }

  /** Takes the change and resolves when it is written. */
  changeDurably(step: (state: AgentState) => AgentState): Promise<void> {
    this.#state = step(this.#state);
    return this.flush();
  }

  /** Resolves when everything up to now is written. Rejects with the error of this write. */
  flush(): Promise<void> {
    const write = this.#chain.then(() => this.#write());
    this.#chain = write.catch(() => undefined);
    return write;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #write(): Promise<void> {
    const data = formatState(this.#state);
    const text = JSON.stringify(data);
    if (text === this.#written) return;
    await this.#api.apply(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          namespace: this.#namespace,
          name: AGENT_STATE_CONFIG_MAP,
          labels: { [LABEL.managedBy]: 'atoll', [LABEL.name]: 'atoll-agent' },
        },
        data,
      },
      { fieldManager: FIELD_MANAGER.operator, force: true },
    );
    this.#written = text;
  }
}
