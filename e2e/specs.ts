/** Small specs for small machines: in the hub's input form and in the form of the custom resource. */
const memory = { requests: { memory: '64Mi', cpu: '20m' }, limits: { memory: '192Mi' } };

export const SENTINEL_INPUT = {
  engine: { type: 'REDIS', version: '8.0' },
  mode: 'SENTINEL',
  size: 3,
  resources: memory,
};

export const STANDALONE_INPUT = { ...SENTINEL_INPUT, mode: 'STANDALONE', size: 1 };

export const SENTINEL_SPEC = {
  engine: { type: 'Redis', version: '8.0' },
  mode: 'Sentinel',
  size: 3,
  resources: memory,
};
export const REPLICATION_SPEC = { ...SENTINEL_SPEC, mode: 'Replication', size: 2 };
export const STANDALONE_SPEC = { ...SENTINEL_SPEC, mode: 'Standalone', size: 1 };

/** Volumes that outlive pods. */
export const DURABLE = { storage: { type: 'PersistentVolume', size: '128Mi' }, persistence: { enabled: true } };
export const DURABLE_INPUT = { storage: { type: 'PERSISTENT_VOLUME', size: '128Mi' }, persistence: { enabled: true } };
