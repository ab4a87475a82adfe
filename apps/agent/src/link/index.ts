export { Link } from './link.ts';
export type {
  AgentLimits,
  EventFeed,
  LinkEvent,
  LinkParts,
  LinkSettings,
  LinkState,
  RedisClusterStore,
} from './ports.ts';
