/**
 * The record of a data set: the few facts that must survive the RedisCluster object, in a ConfigMap of the data set.
 * Invariant: it is written before the action that makes it true, so an agent that was killed in between finds the
 * intention, never a fact without a record. Without it a returning empty primary could not be told from the real one.
 */
import { asDataSetId, type DataSetRecord, type KubeObject } from '#domain';
import { childAnnotations, childLabels, type ChildOwner } from './labels.ts';

const KEY = 'record';

/** The ConfigMap `<name>-<hash>-record` that carries the record as one JSON text. */
export const renderRecord = (owner: ChildOwner, name: string, record: DataSetRecord): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: owner.namespace,
    labels: childLabels(owner, 'all'),
    annotations: childAnnotations(owner),
  },
  data: { [KEY]: encodeRecord(record) },
});

/** One text for one record, whatever the order of its fields. */
export const encodeRecord = (record: DataSetRecord): string =>
  JSON.stringify({
    dataSetId: record.dataSetId,
    primaryTerm: record.primaryTerm,
    primaryPod: record.primaryPod,
    primaryVersion: record.primaryVersion,
    primaryEngine: record.primaryEngine,
    primaryNode: record.primaryNode,
    primaryHost: record.primaryHost,
    histories: record.histories,
    renderVersion: record.renderVersion,
    surge: record.surge,
    surgeVolume: record.surgeVolume,
    returning: record.returning,
    handover: record.handover,
    members: record.members,
  });

/** The record of a ConfigMap; undefined when it holds none that can be read, which is not the same as an empty one. */
export const decodeRecord = (configMap: KubeObject): DataSetRecord | undefined => {
  const data = configMap['data'];
  if (!isFields(data) || typeof data[KEY] !== 'string') return undefined;
  const fields = parseJson(data[KEY]);
  if (!isFields(fields)) return undefined;
  const { dataSetId, primaryTerm, renderVersion } = fields;
  if (typeof dataSetId !== 'string' || typeof primaryTerm !== 'number' || typeof renderVersion !== 'number') {
    return undefined;
  }
  return {
    dataSetId: asDataSetId(dataSetId),
    primaryTerm,
    renderVersion,
    ...decodeOptional(fields),
  };
};

const decodeOptional = (fields: Record<string, unknown>): Partial<DataSetRecord> => {
  const { primaryEngine, surge, surgeVolume, histories, returning, handover, members } = fields;
  return {
    ...(primaryEngine === 'Redis' || primaryEngine === 'Valkey' ? { primaryEngine } : {}),
    ...(surge === 'Adding' || surge === 'Removing' ? { surge } : {}),
    ...(surgeVolume === 'Made' ? { surgeVolume } : {}),
    ...(Array.isArray(histories) ? { histories: histories.filter((id) => typeof id === 'string') } : {}),
    ...(isFields(returning) ? { returning: readStamps(returning) } : {}),
    ...readHandover(handover),
    ...(typeof members === 'number' ? { members } : {}),
    ...readTexts(fields, ['primaryPod', 'primaryVersion', 'primaryNode', 'primaryHost']),
  };
};

const readHandover = (value: unknown): Pick<DataSetRecord, 'handover'> => {
  if (!isFields(value)) return {};
  const { to, history } = value;
  return typeof to === 'string' && typeof history === 'string' ? { handover: { to, history } } : {};
};

type TextField = 'primaryPod' | 'primaryVersion' | 'primaryNode' | 'primaryHost';

const readTexts = (fields: Record<string, unknown>, names: readonly TextField[]): Partial<DataSetRecord> =>
  Object.fromEntries(names.filter((name) => typeof fields[name] === 'string').map((name) => [name, fields[name]]));

const readStamps = (fields: Record<string, unknown>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));

const isFields = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
