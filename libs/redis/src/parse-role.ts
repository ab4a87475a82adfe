/** ROLE's answer as plain data. */
export interface ReplicaOfPrimary {
  readonly host: string;
  readonly port: number;
  readonly offsetBytes: number;
}
export type RoleReply =
  | { readonly role: 'master'; readonly offsetBytes: number; readonly replicas: readonly ReplicaOfPrimary[] }
  | {
      readonly role: 'slave';
      readonly masterHost: string;
      readonly masterPort: number;
      /** connect, connecting, sync, connected, handshake, none. */
      readonly state: string;
      readonly offsetBytes: number;
    }
  | { readonly role: 'sentinel'; readonly masterNames: readonly string[] };

/** undefined for an answer of another shape. */
export const parseRole = (reply: unknown): RoleReply | undefined => {
  if (!Array.isArray(reply)) return undefined;
  const [role, second, third, fourth, fifth] = reply as readonly unknown[];
  if (role === 'master') return { role, offsetBytes: numberOf(second), replicas: parseReplicas(third) };
  if (role === 'slave') {
    return {
      role,
      masterHost: textOf(second),
      masterPort: numberOf(third),
      state: textOf(fourth),
      offsetBytes: numberOf(fifth),
    };
  }
  if (role === 'sentinel') return { role, masterNames: Array.isArray(second) ? second.map(textOf) : [] };
  return undefined;
};

const parseReplicas = (reply: unknown): readonly ReplicaOfPrimary[] => {
  if (!Array.isArray(reply)) return [];
  return (reply as readonly unknown[]).filter(Array.isArray).map((entry: readonly unknown[]) => ({
    host: textOf(entry[0]),
    port: numberOf(entry[1]),
    offsetBytes: numberOf(entry[2]),
  }));
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : 0;
};
