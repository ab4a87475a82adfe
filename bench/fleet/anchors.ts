/** Published figures of other systems that ours stand beside: the numbered rows of section 2 of multicluster-hubs.md. */
export interface Anchor {
  readonly peer: string;
  /** Absent where the published figure has another unit or is of another kind; then the words alone tell it. */
  readonly peerValue?: number;
}

export const ANCHORS = {
  connect: { peer: 'row 8: ACM adds 40 clusters in 5 min, 500 in an hour (3,500 a hub)' },
  connectRate: { peer: 'row 8: ACM, 40 in 300 s', peerValue: 0.13 },
  herd: { peer: 'row 25: Teleport, 10,000 tunnels on 2 proxies of 8 GB and 2 auth of 16 GB' },
  sessionMemory: { peer: 'row 25: Teleport, 48 GB in all for 10,000 tunnels', peerValue: 49_152 },
  restart: { peer: 'row 5: Karmada 1.14, cold start with 5,000 objects', peerValue: 240 },
  resync: { peer: 'row 11: ACM search, 30 clusters re-send all: 5-8 min', peerValue: 300 },
  changeP50: { peer: 'row 2: Karmada 1.3 pull, 100 clusters', peerValue: 612 },
  changeP99: { peer: 'row 2: Karmada 1.3 pull, 100 clusters', peerValue: 989 },
  ingest: { peer: 'row 14: Maestro, creations, peak', peerValue: 93 },
  idleCpu: { peer: 'row 12: ACM Global Hub, 8.2 millicores at 6,000 clusters', peerValue: 0.14 },
  idleMemory: { peer: 'row 12: ACM Global Hub, hub process at 6,000 clusters', peerValue: 73 },
  connectionMemory: { peer: 'row 29: etcd, about 10 KB per connection', peerValue: 10 },
  list: { peer: 'row 15: Maestro, list of 600 bundles', peerValue: 3_280 },
  rollUp: { peer: 'row 30: xgql, warm', peerValue: 50 },
  storage: { peer: 'row 14: Maestro, 6,000 bundles in 65 MB', peerValue: 11.1 },
} as const satisfies Readonly<Record<string, Anchor>>;
