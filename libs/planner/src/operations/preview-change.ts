/**
 * What a proposed spec would mean: the planner that would carry it out is asked, its actions are followed on a copy of
 * the picture, and it is asked again until it has nothing more to do. So a preview cannot differ from the deed but by what
 * happens in between. Holds (paused, windows, approval) are left out: they say when, not what.
 */
import { validateSpecChange } from '#domain';
import type { Action, Plan, PlanPreview, RedisClusterSnapshot, RedisClusterSpec } from '#domain';
import { planHash } from '#manifests';
import { describeObject } from './describe-action.ts';
import { followAction } from './follow-action.ts';
import { isReachable } from './follow-pods.ts';
import { predictMs } from './predict-time.ts';
import { presentField } from '../present-field.ts';

export interface PreviewInput {
  readonly snapshot: RedisClusterSnapshot;
  readonly spec: RedisClusterSpec;
  /** The whole planner, at one instant; what is taken as done is left out of its plan. */
  readonly replan: (snapshot: RedisClusterSnapshot, isDone: (action: Action) => boolean) => Plan;
  /** What acceptSpec says of a snapshot's spec. */
  readonly refuse: (snapshot: RedisClusterSnapshot) => PlanPreview['refusals'];
}

const MAX_PASSES = 200;
const MAX_ACTIONS = 200;

/** Throws what the planner throws for a spec of another shape than the schema allows. */
export const previewChange = ({ snapshot, spec, replan, refuse }: PreviewInput): PlanPreview => {
  const problems = validateSpecChange(snapshot.resource.spec, spec).map(({ path, message }) => ({
    reason: 'FieldFixed',
    message: `${path.join('.')}: ${message}`,
  }));
  const proposed = propose(snapshot, spec);
  const refusals = [...problems, ...refuse(proposed)];
  const followed =
    problems.length > 0 ? { actions: [], peakMemoryBytes: usedBytes(snapshot) } : followPlans(proposed, replan);
  const { actions, peakMemoryBytes } = followed;
  return {
    hash: planHash(spec),
    actions: actions.slice(0, MAX_ACTIONS).map((action) => ({
      kind: action.kind,
      object: describeObject(action),
      message: action.message,
    })),
    restarts: actions.flatMap((action) =>
      action.kind === 'EvictPod' || action.kind === 'DeletePod' ? [action.pod] : [],
    ),
    predictedSeconds: Math.ceil(actions.reduce((sum, action) => sum + predictMs(action, snapshot), 0) / 1_000),
    peakMemoryBytes,
    refusals,
  };
};

const propose = (snapshot: RedisClusterSnapshot, spec: RedisClusterSpec): RedisClusterSnapshot => {
  const { operations: _, ...rest } = snapshot;
  const { updateStrategy: __, maintenanceWindows: ___, ...what } = spec;
  const { resource } = snapshot;
  const metadata = { ...resource.metadata, generation: (resource.metadata.generation ?? 0) + 1 };
  return { ...rest, disruptionsElsewhere: 0, resource: { ...resource, metadata, spec: what } };
};

const followPlans = (
  first: RedisClusterSnapshot,
  replan: PreviewInput['replan'],
): { readonly actions: readonly Action[]; readonly peakMemoryBytes: number } => {
  const actions: Action[] = [];
  const done = new Set<string>();
  const isDone = (action: Action): boolean => done.has(JSON.stringify(action));
  let snapshot = first;
  let peakMemoryBytes = usedBytes(first);
  let before = '';
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const planned = replan(snapshot, isDone);
    const same = JSON.stringify([planned.actions, told(planned)]);
    if (same === before) {
      if (planned.actions.length === 0) break;
      // Their effect cannot be seen here: they are taken as done, and what comes after them is asked for.
      planned.actions.forEach((action) => done.add(JSON.stringify(action)));
      continue;
    }
    before = same;
    snapshot = tellOf(planned.actions.reduce(followAction, snapshot), planned);
    const copies = planned.actions.some(({ kind }) => COPYING.has(kind)) ? largestBytes(snapshot) : 0;
    peakMemoryBytes = Math.max(peakMemoryBytes, usedBytes(snapshot) + copies);
    actions.push(...planned.actions);
  }
  return { actions, peakMemoryBytes };
};

/** The rules read a few things of the last status, so a pass without an action may still lead to the next one. */
const told = ({ status: { phase, rollout, currentPrimary, primaryTerm, credentials } }: Plan) => ({
  phase,
  ...presentField('rollout', rollout),
  ...presentField('currentPrimary', currentPrimary),
  ...presentField('primaryTerm', primaryTerm),
  ...presentField('credentials', credentials),
});

const tellOf = (snapshot: RedisClusterSnapshot, planned: Plan): RedisClusterSnapshot => {
  const { resource } = snapshot;
  const { rollout: _, ...kept } = resource.status ?? {};
  return { ...snapshot, resource: { ...resource, status: { ...kept, ...told(planned) } } };
};

/** After these a replica takes a copy, and the primary forks for it: at worst every page is held twice. */
const COPYING: ReadonlySet<Action['kind']> = new Set<Action['kind']>(['EvictPod', 'DeletePod', 'ApplyChild']);

const bytesOf = ({ redis }: RedisClusterSnapshot): number[] =>
  Object.values(redis).map((facts) => (isReachable(facts) ? (facts.usedMemoryBytes ?? 0) : 0));
const usedBytes = (snapshot: RedisClusterSnapshot): number => bytesOf(snapshot).reduce((sum, bytes) => sum + bytes, 0);
const largestBytes = (snapshot: RedisClusterSnapshot): number => Math.max(0, ...bytesOf(snapshot));
