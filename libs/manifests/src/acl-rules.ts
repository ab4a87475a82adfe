/**
 * Who may do what, on the data nodes and on the Sentinels: one table for the ACL files that the entrypoints write and for
 * what the agent sets live. The data nodes' rules: `replication` and `sentinel` hold what the engines' documentation
 * lists for them, `app` all but administration. No rule may name a command that the oldest engine lacks: a server refuses
 * a whole ACL file for it.
 *
 * The data nodes' `default` is off, which nobody can log in as, and yet holds every right: a server replays its AOF as
 * `default` and checks each EXEC anew. Without the rights every transaction and script in the AOF is skipped at a
 * restart, with one line in the log (seen: 1,000 of 1,000 keys), and the replicas copy what is left.
 *
 * Nobody but the Sentinels' own user publishes to their channel: who does so chooses the primary (#domain, hello-channel).
 * All channels may be listened to. `resetchannels` comes first, since `acl-pubsub-default` may give all channels to a new user.
 */
import { ACL_SELECTOR, ALL_BUT_HELLO, findHelloRight, HELLO_CHANNEL, splitSelectors } from '#domain';
import type { ResolvedSpec } from '#domain';
import { APPLICATION_USER, CREDENTIAL_USERS, extraUserKey } from './secrets.ts';
import type { CredentialUser } from './secrets.ts';

type Rules = Readonly<Record<CredentialUser, string>>;

/** Gives PUBLISH back, to every channel but the Sentinels'. */
const PUBLISH_SELECTOR = `(resetchannels ${ALL_BUT_HELLO.map((pattern) => `&${pattern}`).join(' ')} -@all +publish)`;

export const DEFAULT_USER = 'default';
export const DATA_DEFAULT_RULES = 'allkeys allchannels +@all';
export const DATA_RULES: Rules = {
  atoll: 'allkeys allchannels +@all',
  replication: 'resetchannels -@all +ping +psync +replconf',
  sentinel:
    `resetchannels &${HELLO_CHANNEL} -@all +multi +exec +slaveof +replicaof +failover +ping +info +role +config|rewrite ` +
    '+publish +subscribe +client|setname +client|kill +client|info +script|kill',
  app: `allkeys allchannels +@all -@admin +role -publish ${PUBLISH_SELECTOR}`,
};

export const SENTINEL_DEFAULT_RULES = 'resetkeys resetchannels -@all';
/** What clients need to find the primary. */
const SENTINEL_CLIENT_RULES =
  'allchannels -@all +auth +hello +ping +info +role +command +subscribe +psubscribe +unsubscribe +punsubscribe +client ' +
  '-client|kill -client|pause +sentinel|get-master-addr-by-name +sentinel|master +sentinel|masters +sentinel|replicas ' +
  '+sentinel|slaves +sentinel|sentinels +sentinel|myid +sentinel|ckquorum';
export const SENTINEL_RULES: Rules = {
  atoll: 'allchannels +@all',
  // Nobody replicates a Sentinel.
  replication: SENTINEL_DEFAULT_RULES,
  sentinel:
    'allchannels -@all +auth +hello +ping +info +role +publish +subscribe +client|setname ' +
    '+sentinel|is-master-down-by-addr +sentinel|master +sentinel|get-master-addr-by-name',
  app: SENTINEL_CLIENT_RULES,
};

/** Of every further user, last: what would take the data set out of the operator's hands. */
const NEVER_GRANTED =
  '-acl -cluster -config|set -config|rewrite -debug -failover -module -psync -replicaof -slaveof -shutdown -sync';

/** The rules of a further user as they are set: its own, in their order, then what no user may. */
export const extraUserRules = (rules: string): string => {
  const rights = splitSelectors(rules)?.map((words) => findHelloRight(words).kind) ?? [];
  const selectors = rules.replaceAll(ACL_SELECTOR, (_, words: string) => `(${guard(words)})`);
  return `${guard(selectors, rights[0])} ${NEVER_GRANTED}${rights.includes('ALL') ? ` ${PUBLISH_SELECTOR}` : ''}`;
};

/** One list of words without the right to publish to the Sentinels' channel. */
const guard = (words: string, right = findHelloRight(words.split(' ')).kind): string =>
  `resetchannels ${words.trim()}${right === 'NONE' ? '' : ' -publish'}`;

export interface WantedUser {
  /** Key of its password in the credentials Secret; undefined: it has none and cannot log in. */
  readonly passwordKey: string | undefined;
  readonly rules: string;
}

/** Every user that a server of this data set holds, by name. */
export const wantedUsers = (
  spec: Pick<ResolvedSpec, 'auth'>,
  component: 'redis' | 'sentinel',
): Readonly<Record<string, WantedUser>> => {
  const rules = component === 'redis' ? DATA_RULES : SENTINEL_RULES;
  const own = CREDENTIAL_USERS.filter((user) => component === 'redis' || user !== 'replication').map(
    (user) => [user, { passwordKey: user, rules: rules[user] }] as const,
  );
  const further = spec.auth.users.map(
    (user) =>
      [
        user.name,
        {
          passwordKey: extraUserKey(user.name),
          rules: component === 'redis' ? extraUserRules(user.rules) : rules[APPLICATION_USER],
        },
      ] as const,
  );
  const off = component === 'redis' ? DATA_DEFAULT_RULES : SENTINEL_DEFAULT_RULES;
  return { [DEFAULT_USER]: { passwordKey: undefined, rules: off }, ...Object.fromEntries([...own, ...further]) };
};

/** Users whose password comes from a Secret of the user's. */
export const copySources = ({
  auth: { secretRef, users },
}: Pick<ResolvedSpec, 'auth'>): readonly {
  readonly passwordKey: string;
  readonly name: string;
  readonly key: string;
}[] => [
  ...(secretRef === undefined ? [] : [{ passwordKey: APPLICATION_USER, ...secretRef }]),
  ...users.flatMap((user) =>
    user.secretRef === undefined ? [] : [{ passwordKey: extraUserKey(user.name), ...user.secretRef }],
  ),
];
