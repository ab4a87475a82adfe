/**
 * Which recorded commands this product must never send (04, Never 1), judged from the record alone and apart from the
 * gate in libs/redis: two lists that were written separately agree or a test fails.
 */
import { WAITING_PRIMARY_HOST } from '#domain';
import { NOT_CONNECTED, type RecordedCommand } from './recording-proxy.ts';

export interface ForbiddenCommand extends RecordedCommand {
  readonly why: string;
}

const NEVER: Readonly<Record<string, string>> = {
  FLUSHALL: 'erases every key',
  FLUSHDB: 'erases every key of a database',
  SWAPDB: 'exchanges databases under the clients',
  SHUTDOWN: 'stops the server',
  DEBUG: 'can crash or empty the server',
  DEL: 'deletes a key of the user',
  UNLINK: 'deletes a key of the user',
  RENAME: 'moves a key of the user',
  RESTORE: 'writes a key of the user',
  MIGRATE: 'moves a key of the user',
  SET: 'writes a key of the user',
  EVAL: 'runs a script on the data of the user',
  MODULE: 'changes the server',
  SLAVEOF: 'is the old name of REPLICAOF',
};
const NEVER_WITH: readonly { readonly words: readonly string[]; readonly why: string }[] = [
  { words: ['CLUSTER', 'RESET'], why: 'empties a node' },
  { words: ['ACL', 'LOAD'], why: 'can lock everybody out' },
  { words: ['CONFIG', 'RESETSTAT'], why: 'falsifies what others measure' },
  { words: ['SENTINEL', 'RESET', '*'], why: 'makes a Sentinel forget everything' },
  { words: ['SENTINEL', 'SIMULATE-FAILURE'], why: 'crashes a Sentinel' },
];

/**
 * The forbidden ones among them, with the reason. `deletedAtMs`: when pods were deleted, on the clock of the record; that
 * one of them is gone Kubernetes says, which no proxy sees.
 */
export function findForbidden(
  commands: readonly RecordedCommand[],
  deletedAtMs: readonly number[] = [],
): ForbiddenCommand[] {
  return commands.flatMap((command, index) => {
    const why = judge(command.words) ?? judgeFailover(commands, index, deletedAtMs);
    return why === undefined ? [] : [{ ...command, why }];
  });
}

function judge(words: readonly string[]): string | undefined {
  const [name = '', second = ''] = words;
  if (Object.hasOwn(NEVER, name)) return NEVER[name];
  const listed = NEVER_WITH.find((each) => each.words.every((word, index) => words[index]?.toUpperCase() === word));
  if (listed !== undefined) return listed.why;
  if (name === 'FAILOVER' && words.some((word) => word.toUpperCase() === 'FORCE')) return 'loses acknowledged writes';
  // A replica of the waiting address answers nobody; only the guard in the pod may start one so.
  if (name === 'REPLICAOF' && second === WAITING_PRIMARY_HOST) return 'makes a node wait that may be serving';
  return undefined;
}

/** How long before a failover its proof, or the pause of a planned one, may have been. */
const PROOF_MS = 15_000;
/** A pod that was deleted is gone at the end of its grace period. */
const DELETED_MS = 45_000;

/** On a primary that lives and takes writes it loses some of them: it needs refused connections or a pause before it. */
function judgeFailover(
  commands: readonly RecordedCommand[],
  index: number,
  deletedAtMs: readonly number[],
): string | undefined {
  const failover = commands[index];
  if (failover?.words[0] !== 'SENTINEL' || failover.words[1] !== 'FAILOVER') return undefined;
  const before = commands.slice(0, index).filter(({ atMs }) => failover.atMs - atMs <= PROOF_MS);
  const refused = before.some(({ words }) => words[0] === NOT_CONNECTED && words[1] === 'ECONNREFUSED');
  const paused = before.some(({ words }) => words[0] === 'CLIENT' && words[1] === 'PAUSE');
  const deleted = deletedAtMs.some((atMs) => failover.atMs >= atMs && failover.atMs - atMs <= DELETED_MS);
  return refused || paused || deleted ? undefined : 'fails over from a primary that lives and takes writes';
}
