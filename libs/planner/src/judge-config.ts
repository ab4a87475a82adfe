/**
 * What became of each directive, and what each pod is told next. Decided from the spec, from what CONFIG GET said of each
 * pod in this pass, and from what a server said before (status.config.rejected): a value that a server refused, or
 * changed silently, is not sent again to pods of that engine and version until the value changes; while a version is
 * changed there are two of them, each with its own refusal. Invariant: one bad directive stops no other, and a settled data
 * set is sent nothing.
 */
import {
  ANNOTATION,
  RESTART_ONLY_CONFIG,
  canonicalConfigName,
  explainUnsafeConfig,
  isPartOfLimit,
  isSameConfigValue,
  largestMaxmemoryBytes,
  memoryLimitBytes,
  parseRedisMemory,
  ownValue,
} from '#domain';
import type { ConfigStatus, RejectedDirective } from '#domain';
import { redisDirectives, restartHash } from '#manifests';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView } from './cluster-view.ts';

export interface ConfigJudgement {
  /** Directives to set now, per pod, in the order of the view's pods. */
  readonly changes: readonly { readonly pod: AnsweringPod; readonly values: Readonly<Record<string, string>> }[];
  /** undefined: no pod could be asked. */
  readonly status: ConfigStatus | undefined;
}

type Directives = Readonly<Record<string, string>>;

interface Verdict {
  readonly state: 'rejected' | 'pendingRestart' | 'differs' | 'applied';
  /** Who refused it and why; also while it is still to be set on pods of another engine or version. */
  readonly refusals: readonly RejectedDirective[];
}

const plain = (state: 'pendingRestart' | 'differs' | 'applied'): Verdict => ({ state, refusals: [] });
const refused = (...refusals: readonly RejectedDirective[]): Verdict => ({ state: 'rejected', refusals });

export const judgeConfig = (view: ClusterView): ConfigJudgement => {
  const pods = view.dataPods.filter(answers).filter((pod) => !pod.terminating && isAsked(pod));
  if (pods.length === 0) return { changes: [], status: view.snapshot.resource.status?.config };
  const remembered = rememberedOf(view);
  const verdicts = new Map<string, Verdict>();
  // appendonly is switched in an order of its own (switch-persistence).
  const { appendonly: _, ...wanted } = redisDirectives(view.spec);
  for (const name of Object.keys({ ...wanted, ...view.spec.config })) {
    verdicts.set(name, judge({ view, pods, remembered, wanted }, name));
  }
  return {
    changes: pods.flatMap((pod) => {
      const values = changesOf(view, pod, { ...defaultMaxmemory(pod), ...wantedOf(view, pod, wanted, verdicts) });
      return Object.keys(values).length === 0 ? [] : [{ pod, values }];
    }),
    status: summarise(view, verdicts),
  };
};

/** Loading servers refuse some commands; one that was asked for no directive says nothing of any. */
const isAsked = ({ facts }: AnsweringPod): boolean => !facts.loading && Object.keys(facts.config).length > 0;

interface Known {
  readonly view: ClusterView;
  readonly pods: readonly AnsweringPod[];
  readonly remembered: readonly RejectedDirective[];
  readonly wanted: Directives;
}

const judge = (known: Known, name: string): Verdict => {
  const { view, pods, wanted } = known;
  const value = ownValue(view.spec.config, name) ?? ownValue(wanted, name) ?? '';
  const because = explainAtOnce(view.spec.config, name, value);
  if (because !== undefined) return refused({ key: name, value, reason: because });
  const ignorant = pods.filter((pod) => ownValue(pod.facts.config, name) === undefined);
  if (ignorant.length === pods.length) {
    if (!Object.hasOwn(view.spec.config, name)) return plain('applied');
    const engine = engineOf(pods[0]);
    return refused({ key: name, value, reason: `${engine} does not know this directive; remove it.`, engine });
  }
  const differing = pods.filter((pod) => differs(pod, name, value));
  if (differing.length === 0) return plain(ignorant.length > 0 ? 'pendingRestart' : 'applied');
  if (!differing.some((pod) => fitsOwnLimit(view, pod, name, value))) return plain('pendingRestart');
  return RESTART_ONLY_CONFIG.has(name)
    ? judgeRestart(view, differing, name, value)
    : judgeRuntime(known, differing, name, value);
};

/** What needs no server to be known. */
const explainAtOnce = (config: Directives, name: string, value: string): string | undefined => {
  if (!Object.hasOwn(config, name)) return undefined;
  const unsafe = explainUnsafeConfig(name, value);
  if (unsafe !== undefined) return `${value} is not taken: ${unsafe}.`;
  const twin = Object.keys(config).find(
    (other) => other < name && canonicalConfigName(other) === canonicalConfigName(name),
  );
  return twin === undefined ? undefined : `it is another name of ${twin}, which is set too; remove one of them.`;
};

const differs = (pod: AnsweringPod, name: string, value: string): boolean => {
  const live = ownValue(pod.facts.config, name);
  return live !== undefined && !isSameConfigValue(name, value, live);
};

/** Where the spec says nothing: what the pod's own limit leaves, which the pod was started with too. */
const defaultMaxmemory = ({ memoryLimitBytes }: AnsweringPod): Directives => ({
  maxmemory: memoryLimitBytes === undefined ? '0' : String(largestMaxmemoryBytes({}, memoryLimitBytes)),
});

/**
 * A running pod keeps the memory limit it was started with: a maxmemory above it waits for the pod's restart, and so does
 * one that is a part of another limit. The part of a limit that was lowered would evict keys of a pod that has the room.
 */
const fitsOwnLimit = ({ spec }: ClusterView, pod: AnsweringPod, name: string, value: string): boolean => {
  if (name !== 'maxmemory') return true;
  if (isPartOfLimit(spec) && pod.memoryLimitBytes !== memoryLimitBytes(spec.resources)) return false;
  if (pod.memoryLimitBytes === undefined) return true;
  const bytes = parseRedisMemory(value) ?? 0;
  return bytes > 0 && bytes <= pod.memoryLimitBytes;
};

/** A pod that was started with this very value and yet runs another has refused it: the entrypoint left it out. */
const judgeRestart = (view: ClusterView, pods: readonly AnsweringPod[], key: string, value: string): Verdict => {
  const wantedHash = restartHash(view.spec, view.renderVersion);
  const refusing = pods.find((pod) => pod.annotations[ANNOTATION.restartHash] === wantedHash);
  if (refusing === undefined) return plain('pendingRestart');
  const kept = ownValue(refusing.facts.config, key) ?? '';
  const reason = `${refusing.name} was started with it and runs ${kept}; the first lines of its log say why.`;
  return refused({ key, value, reason, kept, engine: engineOf(refusing) });
};

const judgeRuntime = ({ remembered }: Known, pods: readonly AnsweringPod[], name: string, value: string): Verdict => {
  const said = remembered.filter((entry) => entry.key === name && entry.value === value);
  const refusals = said.filter((entry) => pods.some((pod) => isKnownRefusal(entry, pod)));
  const isTold = pods.every((pod) => refusals.some((entry) => isKnownRefusal(entry, pod)));
  return { state: isTold ? 'rejected' : 'differs', refusals };
};

/** The server would say the same again. */
const isKnownRefusal = (said: RejectedDirective, pod: AnsweringPod): boolean =>
  said.engine === engineOf(pod) &&
  (said.kept === undefined || isSameConfigValue(said.key, said.kept, ownValue(pod.facts.config, said.key) ?? ''));

export const engineOf = (pod: AnsweringPod | undefined): string =>
  pod === undefined ? 'This engine' : `${pod.facts.engine} ${pod.facts.version}`;

/**
 * Where the user's value was refused, the operator's own value for that directive holds, if it has one. Each pod by what its
 * own engine said: one version's refusal takes nothing from the pods of the other.
 */
const wantedOf = (
  view: ClusterView,
  pod: AnsweringPod,
  wanted: Directives,
  verdicts: ReadonlyMap<string, Verdict>,
): Directives => {
  const own = redisDirectives({ ...view.spec, config: {} });
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([name, value]) => {
      if (RESTART_ONLY_CONFIG.has(name)) return [];
      const refusal = verdicts.get(name)?.refusals.find((entry) => concerns(entry, pod));
      if (refusal === undefined) return [[name, value]];
      const ours = ownValue(own, name);
      return ours === undefined || ours === value || refusal.kept !== undefined ? [] : [[name, ours]];
    }),
  );
};

/** What no server was asked about holds for all of them. */
const concerns = (said: RejectedDirective, pod: AnsweringPod): boolean =>
  said.engine === undefined || isKnownRefusal(said, pod);

const changesOf = (view: ClusterView, pod: AnsweringPod, wanted: Directives): Directives => {
  const remembered = rememberedOf(view);
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => {
      if (!differs(pod, name, value) || !fitsOwnLimit(view, pod, name, value)) return false;
      const said = remembered.filter((entry) => entry.key === name && entry.value === value);
      return !said.some((entry) => isKnownRefusal(entry, pod));
    }),
  );
};

/** What servers refused in earlier passes. */
const rememberedOf = ({ snapshot }: ClusterView): readonly RejectedDirective[] =>
  snapshot.resource.status?.config?.rejected ?? [];

const summarise = (view: ClusterView, verdicts: ReadonlyMap<string, Verdict>): ConfigStatus => {
  const entries = [...verdicts].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    applied: entries.filter(([name, { state }]) => state === 'applied' && Object.hasOwn(view.spec.config, name)).length,
    pendingRestart: entries.filter(([, { state }]) => state === 'pendingRestart').map(([name]) => name),
    rejected: entries.flatMap(([, { refusals }]) => refusals),
  };
};
