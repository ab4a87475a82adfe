/** What the one leading process of an agent does: the operator always, the link when there is a hub. */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatObjectKey } from '#domain';
import type { Clock, RedisClusterObject, Scope } from '#domain';
import type { KubeClient } from '#kube';
import { claimNamespace } from './act/index.ts';
import { Link, isPushedByAnother } from './link/index.ts';
import type { LinkParts, LinkSettings } from './link/index.ts';
import type { PassOutcome } from './loop/index.ts';
import { STALE_AFTER_MS } from './observe/index.ts';
import { Operator } from './operator.ts';
import type { Log, OwnDefinition } from './platform/index.ts';

export interface LeadSettings {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly scope: Scope;
  /** Of scope CLUSTER: the only namespaces that are served. Default: all. */
  readonly namespaces?: readonly string[];
  readonly podName: string;
  readonly definition: OwnDefinition;
  readonly mayWrite: () => boolean;
  /** Absent: no hub. */
  readonly link?: LinkSettings;
  readonly onPass: (outcome: PassOutcome, durationMs: number) => void;
  readonly onQueueWait?: (waitedMs: number) => void;
  /** For tests: how long old passwords stay valid, whatever a spec says. */
  readonly gracePeriodMs?: number;
}

const LOOK_AT_DEFINITION_MS = 200;

export class Lead {
  readonly operator: Operator;
  readonly link: Link | undefined;

  private constructor(operator: Operator, link: Link | undefined) {
    this.operator = operator;
    this.link = link;
  }

  /** Waits until there is a kind to watch; undefined when `signal` ends the wait. */
  static async start(settings: LeadSettings, signal: AbortSignal): Promise<Lead | undefined> {
    const pause = (): Promise<void> => sleep(LOOK_AT_DEFINITION_MS, undefined, { signal }).catch(() => undefined);
    // At a start the first answer is under way; once only, for one that was served before may be gone now.
    const firstAnswer = settings.definition.whenServed.catch(() => undefined);
    if (!isThere(settings.definition)) await Promise.race([firstAnswer, pause()]);
    while (!isThere(settings.definition)) {
      if (signal.aborted) return undefined;
      await pause();
    }
    await claimOwnNamespace(settings);
    const operator = new Operator(settings);
    const link = settings.link === undefined ? undefined : new Link(settings.link, linkParts(settings, operator));
    link?.start();
    return new Lead(operator, link);
  }

  async stop(): Promise<void> {
    await Promise.all([this.link?.stop(), this.operator.stop()]);
  }
}

/** One that is being deleted counts: its objects wait for this agent to let them go. */
const isThere = ({ state }: OwnDefinition): boolean =>
  state?.kind === 'SERVED' || state?.kind === 'TERMINATING' || (state?.kind === 'PRESENT' && state.established);

/** An agent of one namespace claims it before a cluster-wide one can, whether or not there is a RedisCluster yet. */
const claimOwnNamespace = async ({ client, scope, mayWrite, log }: LeadSettings): Promise<void> => {
  if (scope.kind !== 'NAMESPACE' || !mayWrite()) return;
  try {
    await claimNamespace(client, scope.namespace, scope);
  } catch (error) {
    log('warn', 'own namespace not claimed yet', { error });
  }
};

/** What the link is given of the operator. */
export const linkParts = (settings: LeadSettings, operator: Operator): LinkParts => ({
  client: settings.client,
  clock: settings.clock,
  log: settings.log,
  fence: settings.mayWrite,
  warn: (key, reason, message) => {
    const resource = operator.cache.resource(formatObjectKey(key));
    if (resource !== undefined) void operator.events.tell(resource, { severity: 'Warning', reason, message });
  },
  crdSchemaHash: () => settings.definition.schemaHash,
  events: operator.feed,
  numbersOf: (key) => operator.feed.numbersOf(key),
  store: {
    ...view(operator, (resource) => !isPushedByAnother(resource, settings.scope)),
    onChange: (listener) => {
      const ends = [operator.onResource(({ key }) => listener(key)), operator.feed.onNumbers(listener)];
      return () => ends.forEach((end) => end());
    },
    // Who could not renew its Lease does not reach the API server, whatever the cache still says: the hub is told before the
    // Lease can be another process's, so that the session which that one begins is not taken for a copy of this agent.
    isSynced: () => settings.mayWrite() && operator.cache.knowsResources(STALE_AFTER_MS),
  },
  guests: view(operator, (resource) => isPushedByAnother(resource, settings.scope)),
});

const view = (
  { cache }: Operator,
  shows: (resource: RedisClusterObject) => boolean,
): Pick<LinkParts['store'], 'list' | 'get'> => ({
  list: () => cache.resources().filter(shows),
  get: (key) => {
    const resource = cache.resource(formatObjectKey(key));
    return resource !== undefined && shows(resource) ? resource : undefined;
  },
});
