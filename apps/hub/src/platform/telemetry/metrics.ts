import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The hub's own metrics; one registry per process object, so that several hubs can run in one test. */
export class Metrics {
  readonly registry = new Registry();
  readonly sessions = new Gauge({
    name: 'atoll_hub_agent_sessions',
    help: 'Live sessions of agents on this replica',
    registers: [this.registry],
  });
  readonly refusals = new Counter({
    name: 'atoll_hub_agent_refusals_total',
    help: 'Handshakes refused, by code',
    labelNames: ['code'],
    registers: [this.registry],
  });
  readonly admissionQueue = new Gauge({
    name: 'atoll_hub_agent_admission_queue',
    help: 'Connections of agents that wait for their turn to begin a handshake',
    registers: [this.registry],
  });
  readonly admissionSources = new Gauge({
    name: 'atoll_hub_agent_admission_sources',
    help: 'Addresses (IPv6: networks) that these connections come from',
    registers: [this.registry],
  });
  readonly admissionLongest = new Gauge({
    name: 'atoll_hub_agent_admission_queue_longest',
    help: 'Waiting connections of the address that has the most of them',
    registers: [this.registry],
  });
  readonly admissionRate = new Gauge({
    name: 'atoll_hub_agent_admission_rate',
    help: 'Handshakes a second that the load of this replica allowed when a connection last waited',
    registers: [this.registry],
  });
  readonly admissionWaitSeconds = new Histogram({
    name: 'atoll_hub_agent_admission_wait_seconds',
    help: 'From accepting a connection to the begin of its handshake',
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4],
    registers: [this.registry],
  });
  readonly admissionDrops = new Counter({
    name: 'atoll_hub_agent_admission_drops_total',
    help: 'Connections ended before it was known whose they are, by reason',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly frames = new Counter({
    name: 'atoll_hub_agent_frames_total',
    help: 'Frames received from agents, by type',
    labelNames: ['type'],
    registers: [this.registry],
  });
  readonly deliverySeconds = new Histogram({
    name: 'atoll_hub_delivery_seconds',
    help: 'From sending a Delta to its booked ack',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
    registers: [this.registry],
  });
  readonly statusCommitSeconds = new Histogram({
    name: 'atoll_hub_status_commit_seconds',
    help: 'Duration of one commit of status batches',
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    registers: [this.registry],
  });
  readonly statusBatches = new Counter({
    name: 'atoll_hub_status_batches_total',
    help: 'Status batches, by result',
    labelNames: ['result'],
    registers: [this.registry],
  });
  readonly overLimit = new Counter({
    name: 'atoll_hub_agent_over_limit_total',
    help: 'What agents told beyond what the hub keeps or reads of one agent, by limit',
    labelNames: ['limit'],
    registers: [this.registry],
  });
  readonly databaseBytes = new Gauge({
    name: 'atoll_hub_database_bytes',
    help: 'Size of the database, as PostgreSQL tells it',
    registers: [this.registry],
  });
  readonly databaseBudgetBytes = new Gauge({
    name: 'atoll_hub_database_budget_bytes',
    help: 'Size that the database may have (ATOLL_DATABASE_BUDGET); 0: none is set',
    registers: [this.registry],
  });
  readonly statusLeftOut = new Counter({
    name: 'atoll_hub_status_left_out_total',
    help: 'Items of status that cannot be stored and were left out, by SQLSTATE; the log names their objects',
    labelNames: ['sqlstate'],
    registers: [this.registry],
  });
  readonly eventsLeftOut = new Counter({
    name: 'atoll_hub_events_left_out_total',
    help: 'Events of member clusters that cannot be stored and were left out, by SQLSTATE; the log names their objects',
    labelNames: ['sqlstate'],
    registers: [this.registry],
  });
  /** Set by the one that keeps what is not stored yet. */
  readOldestUnstored: () => number = () => 0;
  readonly statusOldestUnstored: Gauge = new Gauge({
    name: 'atoll_hub_status_oldest_unstored_seconds',
    help: 'Age of the oldest status that this replica received and has not stored; 0 when all is stored',
    registers: [this.registry],
    collect: () => this.statusOldestUnstored.set(this.readOldestUnstored()),
  });
  readonly statusUnstored = new Gauge({
    name: 'atoll_hub_status_unstored_objects',
    help: 'RedisClusters of the fleet whose last status could not be stored; they are not FRESH',
    registers: [this.registry],
  });
  readonly foldAge = new Gauge({
    name: 'atoll_hub_fold_age_seconds',
    help: 'Since the counts of the fleet were folded last, by any replica; 0 before the first time',
    registers: [this.registry],
  });
  readonly setApart = new Gauge({
    name: 'atoll_hub_set_apart',
    help: 'Owners (agents, member clusters) whose work fails and is tried again apart from that of the others, by work',
    labelNames: ['work'],
    registers: [this.registry],
  });
  readonly inventories = new Counter({
    name: 'atoll_hub_inventories_total',
    help: 'Comparisons of inventory with an agent, by reason',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly agentsQuarantined = new Gauge({
    name: 'atoll_hub_agents_quarantined',
    help: 'Agents whose key was used in two places; they get nothing until a person has looked',
    registers: [this.registry],
  });
  readonly deletesHeld = new Gauge({
    name: 'atoll_hub_deletes_held',
    help: 'Deletes that the breaker holds back until a person approves them',
    registers: [this.registry],
  });
  readonly agentsWithoutNextCa = new Gauge({
    name: 'atoll_hub_agents_without_next_ca',
    help: "Active agents that do not trust the hub's next CA yet; 0 also when none is announced",
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}
