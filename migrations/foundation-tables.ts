/**
 * The tables of the first release. Tables are apart where their writers must never wait for each other: identity and
 * labels, spec head, status head, session, `agent_seen`; and `resource` apart from `resource_status`, so that status
 * never locks spec. Ids are UUIDv7 made by the application.
 */
export const HUB_AND_ACCESS = `
CREATE TABLE hub_identity (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), hub_epoch uuid NOT NULL,
  system_identifier text NOT NULL, timeline_id int NOT NULL, created_at timestamptz NOT NULL);
CREATE TABLE project (id uuid PRIMARY KEY, name text NOT NULL UNIQUE, created_at timestamptz NOT NULL);
CREATE TABLE principal (
  id uuid PRIMARY KEY, name text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('BOOTSTRAP_ADMIN', 'USER', 'TOKEN')), created_at timestamptz NOT NULL);
-- project_id null: every project
CREATE TABLE role_binding (
  id uuid PRIMARY KEY, principal_id uuid NOT NULL REFERENCES principal ON DELETE CASCADE,
  project_id uuid REFERENCES project ON DELETE CASCADE, role text NOT NULL CHECK (role IN ('ADMIN', 'OPERATOR', 'VIEWER')));
CREATE INDEX role_binding_principal ON role_binding (principal_id);
CREATE TABLE api_token (
  id uuid PRIMARY KEY, principal_id uuid NOT NULL REFERENCES principal ON DELETE CASCADE, token_hash bytea NOT NULL UNIQUE,
  expires_at timestamptz, revoked_at timestamptz, created_at timestamptz NOT NULL);
CREATE TABLE idempotency_key (
  principal text NOT NULL, key text NOT NULL, request_hash text NOT NULL, response jsonb NOT NULL,
  created_at timestamptz NOT NULL, PRIMARY KEY (principal, key));
CREATE INDEX idempotency_key_created ON idempotency_key (created_at);
-- chain columns are filled by one sequencer, not under each commit
CREATE TABLE audit (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL, project_id uuid, principal text NOT NULL,
  action text NOT NULL, target text, before jsonb, after jsonb, result text NOT NULL, code text, request_id text,
  chain_no bigint, chain_hash text);
CREATE INDEX audit_target ON audit (target, seq);
CREATE INDEX audit_project ON audit (project_id, seq);`;

export const AGENTS = `
CREATE TABLE member_cluster (
  id uuid PRIMARY KEY, name text NOT NULL, fingerprint text, labels jsonb NOT NULL DEFAULT '{}', region text,
  state text NOT NULL CHECK (state IN ('PENDING', 'ACTIVE', 'FORGOTTEN')), created_at timestamptz NOT NULL);
CREATE UNIQUE INDEX member_cluster_name ON member_cluster (name) WHERE state <> 'FORGOTTEN';
CREATE UNIQUE INDEX member_cluster_fingerprint ON member_cluster (fingerprint) WHERE state <> 'FORGOTTEN';
CREATE TABLE agent (
  id uuid PRIMARY KEY, member_cluster_id uuid NOT NULL REFERENCES member_cluster,
  scope_kind text NOT NULL CHECK (scope_kind IN ('CLUSTER', 'NAMESPACE')), scope_namespace text,
  public_key bytea, previous_public_key bytea, fingerprint text,
  state text NOT NULL CHECK (state IN ('PENDING_TOKEN', 'PENDING_APPROVAL', 'ACTIVE', 'QUARANTINED', 'REVOKED')),
  state_reason text, agent_version text, crd_schema_hash text, capabilities jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL, approved_at timestamptz,
  CHECK ((scope_kind = 'NAMESPACE') = (scope_namespace IS NOT NULL)));
CREATE UNIQUE INDEX agent_scope ON agent (member_cluster_id, scope_kind, coalesce(scope_namespace, '')) WHERE state <> 'REVOKED';
CREATE TABLE enrolment_token (
  token_hash bytea PRIMARY KEY, agent_id uuid NOT NULL REFERENCES agent ON DELETE CASCADE,
  expires_at timestamptz NOT NULL, used_at timestamptz);
-- digest: of what the agent acked as written. inventory_needed: the two sides disagree, the next session compares them
CREATE TABLE agent_spec_head (
  agent_id uuid PRIMARY KEY REFERENCES agent ON DELETE CASCADE, revision bigint NOT NULL DEFAULT 0,
  acked_revision bigint NOT NULL DEFAULT 0, digest text NOT NULL, inventory_needed boolean NOT NULL DEFAULT false,
  inventory_reason text, inventory_at timestamptz);
CREATE TABLE agent_status_head (
  agent_id uuid PRIMARY KEY REFERENCES agent ON DELETE CASCADE,
  session_no bigint NOT NULL DEFAULT 0, counter bigint NOT NULL DEFAULT -1);
CREATE TABLE agent_session (
  agent_id uuid PRIMARY KEY REFERENCES agent ON DELETE CASCADE, session_no bigint NOT NULL DEFAULT 0, replica text,
  instance_id text, state text NOT NULL CHECK (state IN ('CONNECTED', 'DISCONNECTED')),
  inventory text NOT NULL DEFAULT 'UNKNOWN', connected_at timestamptz, disconnected_at timestamptz);
CREATE INDEX agent_session_replica ON agent_session (replica) WHERE state = 'CONNECTED';
CREATE TABLE agent_take_over (
  agent_id uuid NOT NULL REFERENCES agent ON DELETE CASCADE, at timestamptz NOT NULL,
  from_instance text NOT NULL, to_instance text NOT NULL);
CREATE INDEX agent_take_over_recent ON agent_take_over (agent_id, at);
CREATE TABLE agent_seen (
  agent_id uuid PRIMARY KEY REFERENCES agent ON DELETE CASCADE, seen_at timestamptz NOT NULL,
  verdict text NOT NULL DEFAULT 'UNKNOWN' CHECK (verdict IN ('FRESH', 'LATE', 'UNKNOWN'))) WITH (fillfactor = 70);
CREATE TABLE liveness_pulse (one boolean PRIMARY KEY DEFAULT true CHECK (one), at timestamptz NOT NULL, grace_until timestamptz NOT NULL);`;

export const DESIRED_STATE = `
CREATE TABLE resource (
  hub_uid uuid PRIMARY KEY, project_id uuid NOT NULL REFERENCES project, member_cluster_id uuid NOT NULL REFERENCES member_cluster,
  agent_id uuid NOT NULL REFERENCES agent, api_version text NOT NULL, kind text NOT NULL, namespace text NOT NULL,
  name text NOT NULL, hub_generation bigint NOT NULL, spec text NOT NULL, spec_hash text NOT NULL,
  drift_policy text NOT NULL DEFAULT 'Report' CHECK (drift_policy IN ('Report', 'Revert')), adopt boolean NOT NULL DEFAULT false,
  data_set_id text, revert_fields jsonb, create_allowed boolean NOT NULL DEFAULT true,
  deletion text CHECK (deletion IN ('DELETE', 'ORPHAN')), deleted_at timestamptz,
  created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL);
COMMENT ON COLUMN resource.spec IS 'RFC 8785 text as sent; spec_hash is its SHA-256';
COMMENT ON COLUMN resource.create_allowed IS 'until the first APPLIED, and after Recreate';
COMMENT ON COLUMN resource.deletion IS 'a tombstone waits for its ack; the row goes after it';
CREATE UNIQUE INDEX resource_name ON resource (agent_id, kind, namespace, name) WHERE deleted_at IS NULL AND deletion IS NULL;
CREATE INDEX resource_agent ON resource (agent_id, hub_uid);
CREATE INDEX resource_project ON resource (project_id, hub_uid);
CREATE INDEX resource_member_cluster ON resource (member_cluster_id, hub_uid);
-- applied_*: the generation and hash last acked APPLIED or CONFLICT, which the spec digest counts
CREATE TABLE delivery (
  hub_uid uuid PRIMARY KEY REFERENCES resource ON DELETE CASCADE, hub_generation bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('PENDING', 'APPLIED', 'REJECTED', 'CONFLICT', 'WAITING', 'DELETED_LOCALLY')),
  code text, message text, retryable boolean, attempts int NOT NULL DEFAULT 0, next_attempt_at timestamptz,
  applied_generation bigint, applied_hash text, contested jsonb, updated_at timestamptz NOT NULL);
CREATE INDEX delivery_due ON delivery (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE TABLE desired_change (
  agent_id uuid NOT NULL REFERENCES agent ON DELETE CASCADE, revision bigint NOT NULL, hub_uid uuid NOT NULL,
  op text NOT NULL CHECK (op IN ('UPSERT', 'TOMBSTONE')), at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (agent_id, revision));
CREATE INDEX desired_change_at ON desired_change (at);
-- tombstones of DELETE that passed the breaker; kept after the resource is gone, since the breaker counts them
CREATE TABLE tombstone_release (hub_uid uuid PRIMARY KEY, agent_id uuid NOT NULL, released_at timestamptz NOT NULL);
CREATE INDEX tombstone_release_recent ON tombstone_release (released_at);`;

export const OBSERVED_STATE = `
CREATE TABLE resource_status (
  hub_uid uuid PRIMARY KEY REFERENCES resource ON DELETE CASCADE, session_no bigint NOT NULL, counter bigint NOT NULL,
  observed_hub_generation bigint, observed_generation bigint, phase text, mode text, engine_version text, size int,
  ready_pods int, current_primary text, primary_term bigint, endpoints jsonb NOT NULL DEFAULT '{}', pods jsonb NOT NULL DEFAULT '[]',
  conditions jsonb NOT NULL DEFAULT '[]', foreign_fields jsonb NOT NULL DEFAULT '[]', numbers jsonb NOT NULL DEFAULT '{}',
  live_spec jsonb, data_set_id text, kube_uid text, gone boolean NOT NULL DEFAULT false, terminating boolean NOT NULL DEFAULT false,
  status_hash text NOT NULL, received_at timestamptz NOT NULL) WITH (fillfactor = 80);
-- objects that an agent reports and no hub wants: hand-made ones, and UNCLAIMED ones with the hubUid they carry
CREATE TABLE local_object (
  agent_id uuid NOT NULL REFERENCES agent ON DELETE CASCADE, namespace text NOT NULL, name text NOT NULL, kind text NOT NULL,
  kube_uid text NOT NULL, hub_uid_claimed uuid, item jsonb NOT NULL, session_no bigint NOT NULL, counter bigint NOT NULL,
  received_at timestamptz NOT NULL, PRIMARY KEY (agent_id, kind, namespace, name));
CREATE TABLE event (
  id uuid NOT NULL, at timestamptz NOT NULL, agent_id uuid, hub_uid uuid, project_id uuid, severity text NOT NULL,
  reason text NOT NULL, message text NOT NULL, first_at timestamptz NOT NULL, last_at timestamptz NOT NULL, count int NOT NULL,
  PRIMARY KEY (at, id)) PARTITION BY RANGE (at);
CREATE INDEX event_hub_uid ON event (hub_uid, at);
-- xid: readers go in the order of (xid, id) and only below pg_snapshot_xmin; a sequence alone lets them pass a lower
-- number that commits later
CREATE TABLE change_log (
  id bigint GENERATED ALWAYS AS IDENTITY, xid xid8 NOT NULL DEFAULT pg_current_xact_id(), at timestamptz NOT NULL,
  topic text NOT NULL, subject uuid, project_id uuid, kind text NOT NULL, PRIMARY KEY (at, id)) PARTITION BY RANGE (at);
CREATE INDEX change_log_order ON change_log (xid, id);
CREATE INDEX change_log_subject ON change_log (subject, xid, id);`;
