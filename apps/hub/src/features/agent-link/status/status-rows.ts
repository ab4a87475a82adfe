/** Status as rows, and the statements that keep them in the order of (session_no, counter). */
import type { StatusItem } from '#protocol';
import type { ManagedItem, ReportedItem } from './status.rules.ts';
import { isUuid } from '../sessions/handshake.service.ts';

/** Columns that are null when the agent says nothing, with the item's field. */
const OPTIONAL = {
  observed_hub_generation: 'observedHubGeneration',
  observed_generation: 'observedGeneration',
  phase: 'phase',
  mode: 'mode',
  engine_version: 'engineVersion',
  size: 'size',
  ready_pods: 'readyPods',
  current_primary: 'currentPrimary',
  primary_term: 'primaryTerm',
  live_spec: 'liveSpec',
  data_set_id: 'dataSetId',
} as const satisfies Readonly<Record<string, keyof StatusItem>>;

type Row = Readonly<Record<string, unknown>>;

export const toStatusRow = ({ item, known, sessionNo, counter, hash }: ManagedItem): Row => ({
  ...Object.fromEntries(Object.entries(OPTIONAL).map(([column, field]) => [column, item[field] ?? null])),
  hub_uid: known.hubUid,
  session_no: sessionNo,
  counter,
  endpoints: item.endpoints ?? {},
  pods: item.pods,
  conditions: item.conditions,
  foreign_fields: item.foreignFields,
  numbers: item.numbers ?? {},
  details: item.details ?? {},
  kube_uid: item.uid,
  gone: item.gone === true,
  terminating: item.terminating === true,
  status_hash: hash,
});

const STATUS_TYPES = {
  hub_uid: 'uuid',
  session_no: 'bigint',
  counter: 'bigint',
  observed_hub_generation: 'bigint',
  observed_generation: 'bigint',
  phase: 'text',
  mode: 'text',
  engine_version: 'text',
  size: 'int',
  ready_pods: 'int',
  current_primary: 'text',
  primary_term: 'bigint',
  endpoints: 'jsonb',
  pods: 'jsonb',
  conditions: 'jsonb',
  foreign_fields: 'jsonb',
  numbers: 'jsonb',
  details: 'jsonb',
  live_spec: 'jsonb',
  data_set_id: 'text',
  kube_uid: 'text',
  gone: 'boolean',
  terminating: 'boolean',
  status_hash: 'text',
} as const;

const columns = Object.keys(STATUS_TYPES);
const record = Object.entries(STATUS_TYPES)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');
/** Its own agent does not erase what the one that operates the object has told. */
const NUMBERS = `numbers = CASE WHEN s.numbers_by IS NOT NULL AND excluded.numbers = '{}' AND NOT excluded.gone
    THEN s.numbers ELSE excluded.numbers END,
  numbers_by = CASE WHEN excluded.numbers = '{}' AND NOT excluded.gone THEN s.numbers_by END`;
const assignments = columns
  .slice(1)
  .map((name) => (name === 'numbers' ? NUMBERS : `${name} = excluded.${name}`))
  .join(', ');

/** $1 rows as JSON, sorted by hub_uid; $2 time. Returns the hubUids written, which have a status that is stored again. */
export const UPSERT_STATUS = `WITH written AS (
  INSERT INTO resource_status AS s (${columns.join(', ')}, received_at)
  SELECT ${columns.map((name) => `i.${name}`).join(', ')}, $2 FROM jsonb_to_recordset($1::jsonb) AS i(${record})
  WHERE EXISTS (SELECT 1 FROM resource AS r WHERE r.hub_uid = i.hub_uid)
  ON CONFLICT (hub_uid) DO UPDATE SET ${assignments}, received_at = excluded.received_at
  WHERE (s.session_no, s.counter) <= (excluded.session_no, excluded.counter)
  RETURNING hub_uid AS "hubUid"
), told AS (
  DELETE FROM status_unstored AS u USING written AS w WHERE u.hub_uid = w."hubUid"
) SELECT * FROM written`;

export const toLocalRow = ({ item, agentId, sessionNo, counter }: ReportedItem): Row => ({
  agent_id: agentId,
  kind: item.kind,
  namespace: item.namespace,
  name: item.name,
  kube_uid: item.uid,
  hub_uid_claimed: item.hubUid !== undefined && isUuid(item.hubUid) ? item.hubUid : null,
  item,
  session_no: sessionNo,
  counter,
});

/** $1 rows as JSON, sorted by their key; $2 time. */
export const UPSERT_LOCAL = `INSERT INTO local_object AS l
    (agent_id, kind, namespace, name, kube_uid, hub_uid_claimed, item, session_no, counter, received_at)
  SELECT i.agent_id, i.kind, i.namespace, i.name, i.kube_uid, i.hub_uid_claimed, i.item, i.session_no, i.counter, $2
  FROM jsonb_to_recordset($1::jsonb) AS i(agent_id uuid, kind text, namespace text, name text, kube_uid text,
    hub_uid_claimed uuid, item jsonb, session_no bigint, counter bigint)
  ON CONFLICT (agent_id, kind, namespace, name) DO UPDATE SET kube_uid = excluded.kube_uid,
    hub_uid_claimed = excluded.hub_uid_claimed, item = excluded.item, session_no = excluded.session_no,
    counter = excluded.counter, received_at = excluded.received_at
  WHERE (l.session_no, l.counter) <= (excluded.session_no, excluded.counter)`;
