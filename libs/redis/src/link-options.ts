/** How one standing connection is made. */
export interface RedisCredentials {
  readonly username: string;
  readonly password: string;
}

/**
 * How a connection ended. FIN and RST came from the other side and are evidence of an exit; TIMEOUT proves nothing;
 * SELF is our own doing.
 */
export type ConnectionEnd = 'FIN' | 'RST' | 'TIMEOUT' | 'SELF';

export interface LinkOptions {
  /** IP address or name. */
  readonly host: string;
  readonly port: number;
  /**
   * Asked at every connect, so that a rotated password is used from the next connection on. undefined: no AUTH.
   * `refusals`: how many logins in a row this server has refused.
   */
  readonly credentials: (refusals: number) => RedisCredentials | undefined | Promise<RedisCredentials | undefined>;
  /** Default 1,000. */
  readonly connectTimeoutMs?: number;
  /** Per command. Default 2,000. */
  readonly commandTimeoutMs?: number;
  /** Told once per connection that was established. */
  readonly onEnd?: (end: ConnectionEnd) => void;
  /** Channels that the same connection listens to (RESP3); a server that speaks RESP2 only is not listened to. */
  readonly channels?: readonly string[];
  readonly onMessage?: (channel: string, message: string) => void;
}

export const DEFAULT_CONNECT_TIMEOUT_MS = 1_000;
export const DEFAULT_COMMAND_TIMEOUT_MS = 2_000;
