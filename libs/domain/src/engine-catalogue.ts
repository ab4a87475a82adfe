/**
 * The engine lines that Atoll runs, and which of them reads what another wrote. A line is `major.minor`; a spec may name
 * a patch of it. What is not listed is refused, because configuration, ACL rules and replication differ by line.
 *
 * The graph of upgrades follows from the version of the RDB format: a server reads its own and older ones, and Valkey
 * takes Redis' numbers from 12 on for foreign. An append-only file begins with an RDB, and so does a full
 * synchronisation, so one number speaks for files and for replication. Without the graph an edit of one field restarts a
 * replica that can load nothing, and after the primary's turn nobody can.
 * Measured on Redis 7.0.15, 8.0.2, 8.6.3 and Valkey 8.1.1, 9.1.2 (file, append-only file and full synchronisation for all
 * 25 pairs); the lines between from the engines' sources.
 */
import { MAXMEMORY_POLICIES, type EngineType } from './redis-cluster-spec.ts';

export interface EngineVersion {
  readonly type: EngineType;
  /** `major.minor` or `major.minor.patch`. */
  readonly version: string;
}

interface EngineLine {
  readonly line: string;
  /** Version of the RDB format of its files. */
  readonly writesRdb: number;
}

/** Oldest first, per engine. */
const CATALOGUE: Readonly<Record<EngineType, readonly EngineLine[]>> = {
  Redis: [
    { line: '7.0', writesRdb: 10 },
    { line: '7.2', writesRdb: 11 },
    { line: '7.4', writesRdb: 12 },
    { line: '8.0', writesRdb: 12 },
    { line: '8.2', writesRdb: 12 },
    { line: '8.4', writesRdb: 12 },
    { line: '8.6', writesRdb: 13 },
  ],
  Valkey: [
    { line: '7.2', writesRdb: 11 },
    { line: '8.0', writesRdb: 11 },
    { line: '8.1', writesRdb: 11 },
    { line: '9.0', writesRdb: 80 },
    { line: '9.1', writesRdb: 80 },
  ],
};

/** Where the two engines parted: versions up to this one are common, each has its own above. */
const LAST_COMMON_RDB = 11;

const REPOSITORY: Readonly<Record<EngineType, string>> = {
  Redis: 'docker.io/library/redis',
  Valkey: 'docker.io/valkey/valkey',
};

/** Where the official images of the engines are: what an agent lets its hub run unless its values name others. */
export const ENGINE_REPOSITORIES: readonly string[] = Object.values(REPOSITORY);

/** The lines that a spec may name, oldest first. */
export const ENGINE_LINES: Readonly<Record<EngineType, readonly string[]>> = {
  Redis: CATALOGUE.Redis.map(({ line }) => line),
  Valkey: CATALOGUE.Valkey.map(({ line }) => line),
};

/** `8.0.2` → `8.0`. */
export const engineLine = (version: string): string => version.split('.').slice(0, 2).join('.');

/** The official image of the engine; a line's tag moves to its newest patch. */
export const defaultEngineImage = (type: EngineType, version: string): string => `${REPOSITORY[type]}:${version}`;

/** Below zero when `a` is older than `b`. A missing patch counts as the newest of its line, as an image tag does. */
export const compareEngineVersions = (a: string, b: string): number => {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let part = 0; part < 3; part += 1) {
    const difference = (left[part] ?? Infinity) - (right[part] ?? Infinity);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  return 0;
};

/** Version of the RDB format that this engine writes; undefined for a line that is not in the catalogue. */
export const rdbVersionOf = ({ type, version }: EngineVersion): number | undefined =>
  CATALOGUE[type].find(({ line }) => line === engineLine(version))?.writesRdb;

export type UpgradeEdge =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      readonly reason: 'VersionTooOld' | 'RdbNotReadable' | 'UnknownEngine';
      /** What is wrong and what to write instead. */
      readonly message: string;
    };

/**
 * Whether a data set whose primary has run `from` may go on with `to`. A line that is unknown may only move up within
 * its engine.
 */
export const findUpgradeEdge = (from: EngineVersion, to: EngineVersion): UpgradeEdge => {
  if (from.type === to.type) return judgeSameEngine(from, to);
  const [written, newest] = [rdbVersionOf(from), rdbVersionOf(to)];
  const [was, wanted] = [describeEngine(from), describeEngine(to)];
  if (written === undefined || newest === undefined) {
    const unknown = written === undefined ? was : wanted;
    const message = `${unknown} is not in the catalogue, so nobody knows whether ${wanted} reads what ${was} wrote. Stay with ${from.type}.`;
    return { allowed: false, reason: 'UnknownEngine', message };
  }
  // Below the parting an engine reads what is no newer than its own; above it only its own.
  if (written <= LAST_COMMON_RDB && written <= newest) return { allowed: true };
  const message =
    `${wanted} cannot read what ${was} wrote (RDB version ${written}${written <= LAST_COMMON_RDB ? `; it reads ${newest} and older` : ''}). ` +
    `Use ${from.type}, or move the data by a logical copy into a new RedisCluster.`;
  return { allowed: false, reason: 'RdbNotReadable', message };
};

/** Whether a server loads the snapshot of another, as at the beginning of a full copy. Of an unknown line only a newer one may. */
export const readsRdbOf = (reader: EngineVersion, writer: EngineVersion): boolean => {
  if (reader.type !== writer.type) return findUpgradeEdge(writer, reader).allowed;
  const [newest, written] = [rdbVersionOf(reader), rdbVersionOf(writer)];
  if (newest === undefined || written === undefined) return compareEngineVersions(reader.version, writer.version) >= 0;
  return newest >= written;
};

const judgeSameEngine = (from: EngineVersion, to: EngineVersion): UpgradeEdge => {
  if (compareEngineVersions(to.version, from.version) >= 0) return { allowed: true };
  const message = `A primary of this data set has run ${describeEngine(from)}; ${to.version} may not read what it wrote. Use ${from.version} or newer.`;
  return { allowed: false, reason: 'VersionTooOld', message };
};

const describeEngine = ({ type, version }: EngineVersion): string => `${type} ${version}`;

/** Whether this engine has the value of maxmemory-policy: those with lrm came with Redis 8.6, Valkey has none. */
export const knowsMaxmemoryPolicy = ({ type, version }: EngineVersion, policy: string): boolean => {
  if (!(MAXMEMORY_POLICIES as readonly string[]).includes(policy)) return false;
  return !policy.endsWith('-lrm') || (type === 'Redis' && compareEngineVersions(version, '8.6.0') >= 0);
};
