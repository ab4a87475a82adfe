/**
 * What the agent must not forget over a restart: how far it has come with which hub, which tombstones it carried out, how
 * many deletes it has just made, and what it holds that the hub does not know. Pure: every change gives a new value.
 * When all of it is lost the agent says revision 0 and gets a snapshot; nothing is deleted or made by that.
 */
import type { TombstoneKind } from '#domain';
import { DELETE_WINDOW_MS } from './decide-tombstone.ts';
import { CHANGE_WINDOW_MS } from './judge-change.ts';

/** Source: 03 rule 3. */
const REMEMBER_TOMBSTONES_MS = 30 * 24 * 3600_000;
const MAX_TOMBSTONES = 5_000;
/** 270 KB at most, with the longest names. */
const MAX_HELD_CHANGES = 1_000;

export interface RememberedTombstone {
  readonly operation: TombstoneKind;
  readonly atMs: number;
  /** Under which it was carried out: it is used up, and is no word about an object that was put back since. */
  readonly approvalId?: string;
}

export interface HeldChange {
  /** `namespace/name`, for the person who lets it through. */
  readonly key: string;
  readonly specHash: string;
}

export interface AgentState {
  readonly hubEpoch?: string;
  readonly appliedRevision: number;
  /** By hubUid, oldest first. */
  readonly tombstones: ReadonlyMap<string, RememberedTombstone>;
  readonly recentDeletesMs: readonly number[];
  /** By Kubernetes uid: when its spec was last changed for the hub in a way that can lose data or stop Redis. */
  readonly recentChangesMs: ReadonlyMap<string, number>;
  /** By Kubernetes uid, oldest first: changes that wait for a person. */
  readonly heldChanges: ReadonlyMap<string, HeldChange>;
  /** hubUids of objects here that a verified snapshot of this epoch lacked. */
  readonly unclaimed: ReadonlySet<string>;
}

export const EMPTY_STATE: AgentState = {
  appliedRevision: 0,
  tombstones: new Map(),
  recentDeletesMs: [],
  recentChangesMs: new Map(),
  heldChanges: new Map(),
  unclaimed: new Set(),
};

/** Another epoch is another lineage of the hub: its revisions start anew, its tombstones stay remembered. */
export const enterEpoch = (state: AgentState, hubEpoch: string): AgentState =>
  state.hubEpoch === hubEpoch ? state : { ...state, hubEpoch, appliedRevision: 0 };

export const raiseRevision = (state: AgentState, revision: number): AgentState =>
  revision <= state.appliedRevision ? state : { ...state, appliedRevision: revision };

/** After a verified snapshot: its revision counts, even when it is lower than what another hub had reached. */
export const setRevision = (state: AgentState, appliedRevision: number): AgentState => ({ ...state, appliedRevision });

/** Another agent id has revisions of its own; what was deleted here stays deleted. */
export function becomeNewAgent(state: AgentState): AgentState {
  const { hubEpoch: _, ...rest } = state;
  return { ...rest, appliedRevision: 0 };
}

const withApproval = (approvalId: string | undefined): { approvalId?: string } =>
  approvalId === undefined ? {} : { approvalId };

export function rememberTombstone(
  state: AgentState,
  hubUid: string,
  { operation, atMs: nowMs, approvalId }: RememberedTombstone,
): AgentState {
  const kept = [...state.tombstones].filter(
    ([uid, { atMs }]) => uid !== hubUid && nowMs - atMs < REMEMBER_TOMBSTONES_MS,
  );
  kept.push([hubUid, { operation, atMs: nowMs, ...withApproval(approvalId) }]);
  return { ...state, tombstones: new Map(kept.slice(-MAX_TOMBSTONES)) };
}

export const countDelete = (state: AgentState, nowMs: number): AgentState => ({
  ...state,
  recentDeletesMs: [...state.recentDeletesMs.filter((at) => Math.abs(nowMs - at) < DELETE_WINDOW_MS), nowMs],
});

/** A delete that was counted, and is not to count, or is counted anew. */
export const takeBackDelete = (state: AgentState, countedMs: number): AgentState => {
  const at = state.recentDeletesMs.lastIndexOf(countedMs);
  return at === -1 ? state : { ...state, recentDeletesMs: state.recentDeletesMs.toSpliced(at, 1) };
};

export const countChange = (state: AgentState, uid: string, nowMs: number): AgentState => {
  const recent = [...state.recentChangesMs].filter(([of, at]) => of !== uid && Math.abs(nowMs - at) < CHANGE_WINDOW_MS);
  return { ...state, recentChangesMs: new Map([...recent, [uid, nowMs]]) };
};

export function holdChange(state: AgentState, uid: string, held: HeldChange): AgentState {
  if (state.heldChanges.get(uid)?.specHash === held.specHash) return state;
  const others = [...state.heldChanges].filter(([of]) => of !== uid);
  return { ...state, heldChanges: new Map([...others.slice(1 - MAX_HELD_CHANGES), [uid, held]]) };
}

/** The object has what the hub wants, or another spec is wanted: nothing waits any more. */
export const releaseChange = (state: AgentState, uid: string): AgentState =>
  state.heldChanges.has(uid)
    ? { ...state, heldChanges: new Map([...state.heldChanges].filter(([of]) => of !== uid)) }
    : state;

export const setUnclaimed = (state: AgentState, hubUids: Iterable<string>): AgentState => ({
  ...state,
  unclaimed: new Set(hubUids),
});

export function claim(state: AgentState, hubUid: string): AgentState {
  if (!state.unclaimed.has(hubUid)) return state;
  return setUnclaimed(
    state,
    [...state.unclaimed].filter((uid) => uid !== hubUid),
  );
}

/** As `data` of a ConfigMap: every value a text; 5,000 tombstones take 250 KB of its 1 MiB, 435 KB when all were approved. */
export function formatState(state: AgentState): Record<string, string> {
  const tombstones = [...state.tombstones].map(([uid, { operation, atMs, approvalId }]) =>
    [uid, operation, Math.floor(atMs / 1000), ...(approvalId === undefined ? [] : [approvalId])].join(' '),
  );
  return {
    hubEpoch: state.hubEpoch ?? '',
    appliedRevision: String(state.appliedRevision),
    tombstones: tombstones.join('\n'),
    recentDeletes: state.recentDeletesMs.join('\n'),
    recentChanges: [...state.recentChangesMs].map(([uid, atMs]) => `${uid} ${atMs}`).join('\n'),
    heldChanges: [...state.heldChanges].map(([uid, { key, specHash }]) => `${key} ${uid} ${specHash}`).join('\n'),
    unclaimed: [...state.unclaimed].join('\n'),
  };
}

const lines = (text: string | undefined): string[] => (text ?? '').split('\n').filter((line) => line !== '');

/** Unreadable lines are left out: what they said is then simply not remembered. */
export function parseState(data: Readonly<Record<string, string>>): AgentState {
  const revision = Number(data['appliedRevision']);
  const hubEpoch = data['hubEpoch'] ?? '';
  return {
    ...(hubEpoch === '' ? {} : { hubEpoch }),
    appliedRevision: Number.isSafeInteger(revision) && revision > 0 ? revision : 0,
    tombstones: new Map(lines(data['tombstones']).flatMap(parseTombstone)),
    recentDeletesMs: lines(data['recentDeletes']).map(Number).filter(Number.isFinite),
    recentChangesMs: new Map(lines(data['recentChanges']).flatMap(parseRecentChange)),
    heldChanges: new Map(lines(data['heldChanges']).flatMap(parseHeldChange)),
    unclaimed: new Set(lines(data['unclaimed'])),
  };
}

function parseTombstone(line: string): [string, RememberedTombstone][] {
  const [uid, operation, seconds, approvalId] = line.split(' ');
  const atMs = Number(seconds) * 1000;
  if (uid === undefined || (operation !== 'DELETE' && operation !== 'ORPHAN') || !Number.isFinite(atMs)) return [];
  return [[uid, { operation, atMs, ...withApproval(approvalId) }]];
}

function parseRecentChange(line: string): [string, number][] {
  const [uid, at] = line.split(' ');
  return uid === undefined || !Number.isFinite(Number(at)) ? [] : [[uid, Number(at)]];
}

function parseHeldChange(line: string): [string, HeldChange][] {
  const [key, uid, specHash] = line.split(' ');
  return key === undefined || uid === undefined || specHash === undefined ? [] : [[uid, { key, specHash }]];
}
