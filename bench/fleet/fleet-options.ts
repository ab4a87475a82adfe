import type { TlsForm } from './fleet-stage.ts';

export interface FleetOptions {
  /** Ascending. */
  readonly sizes: readonly number[];
  readonly forms: readonly TlsForm[];
}

const USAGE = 'npm run bench -- fleet [--clusters N[,N…]] [--tls hub|haproxy|both] [--json]';
/** More would not fit one machine's ports: each agent is a connection from one address to one port. */
const MAX_CLUSTERS = 25_000;

/** Default: 1,000 member clusters, both forms. Throws with the usage for anything else. */
export function parseFleetOptions(args: readonly string[]): FleetOptions {
  const valueOf = (flag: string): string | undefined => {
    const at = args.indexOf(flag);
    return at === -1 ? undefined : (args[at + 1] ?? '');
  };
  const sizes = (valueOf('--clusters') ?? '1000').split(',').map(Number);
  if (sizes.some((size) => !Number.isInteger(size) || size < 1 || size > MAX_CLUSTERS)) throw new Error(USAGE);
  const tls = valueOf('--tls') ?? 'both';
  if (tls !== 'hub' && tls !== 'haproxy' && tls !== 'both') throw new Error(USAGE);
  return { sizes: [...sizes].sort((a, b) => a - b), forms: tls === 'both' ? ['hub', 'haproxy'] : [tls] };
}
