/**
 * Adds to a snapshot what rotation and users are decided from: whom each server lets in, judged against the credentials
 * Secret, and what the Secrets of users hold beside it. Passwords are compared here and leave as yes or no. Each
 * server that answers is asked, whoever else is silent, or one pod that cannot start would keep a removed user in for
 * days; after a proven death only as long as its pass may wait.
 */
import type { AclUserSeen, CopySeen, KubeObject, ObjectKey, RedisClusterObject, RedisClusterSnapshot } from '#domain';
import { LABEL, formatObjectKey, objectKeyOf, ownValue } from '#domain';
import { RedisCallError } from '#redis';
import type { AclExpectation, AclSeen } from '#redis';
import type { CopySource, DataSetAccess } from './data-set-access.ts';
import type { LinkPool } from './link-pool.ts';
import type { SecretContent, SecretReader } from './secret-reader.ts';
import { HURRY_MS, withinMs } from './within-ms.ts';

export interface CredentialsObserverSettings {
  readonly secrets: SecretReader;
  readonly links: LinkPool;
  readonly access: DataSetAccess;
}

/** A changed Secret of a user is noticed within this time. */
const COPY_MAX_AGE_MS = 10_000;

type Values = Readonly<Record<string, string>>;
interface UserSecrets extends Required<Pick<RedisClusterSnapshot, 'userConnections'>> {
  readonly children: readonly KubeObject[];
  readonly foreign: readonly string[];
}
type AclFacts = { readonly users?: Readonly<Record<string, AclUserSeen>>; readonly peerLoginCurrent?: boolean };

export class CredentialsObserver {
  readonly #settings: CredentialsObserverSettings;

  constructor(settings: CredentialsObserverSettings) {
    this.#settings = settings;
  }

  /** Rejects when the API server does not answer for a Secret. */
  async add(snapshot: RedisClusterSnapshot): Promise<RedisClusterSnapshot> {
    const { access, secrets } = this.#settings;
    const { resource } = snapshot;
    const key = objectKeyOf(resource);
    const secret = await secrets.read({ ...key, name: access.credentialsSecretOf(resource) });
    if (!snapshot.ownsNamespace) return snapshot;
    const values = secret?.values ?? {};
    const [copies, further, acl] = await Promise.all([
      this.#readCopies(key, access.copySourcesOf(resource), values),
      this.#readUserSecrets(key, resource, values),
      secret === undefined ? undefined : this.#readAcl(snapshot, secret),
    ]);
    const foreign = [...(snapshot.foreignSecrets ?? []), ...further.foreign];
    return {
      ...snapshot,
      ...acl,
      copies,
      userConnections: further.userConnections,
      children: [...snapshot.children, ...further.children],
      ...(foreign.length === 0 ? {} : { foreignSecrets: foreign }),
    };
  }

  async #readCopies(
    key: ObjectKey,
    sources: readonly CopySource[],
    values: Values,
  ): Promise<Readonly<Record<string, CopySeen>>> {
    const seen = sources.map(async ({ passwordKey, nextKey, name, key: field }) => {
      const source = await this.#settings.secrets.read({ ...key, name }, COPY_MAX_AGE_MS);
      const password = this.#readCopy(source, field);
      if (typeof password !== 'object') return [passwordKey, password] as const;
      const held = [ownValue(values, passwordKey), ownValue(values, nextKey)].indexOf(password.value);
      return [passwordKey, (['SAME', 'NEXT'] as const)[held] ?? 'DIFFERENT'] as const;
    });
    return Object.fromEntries(await Promise.all(seen));
  }

  #readCopy(source: SecretContent | undefined, field: string): CopySeen | { readonly value: string } {
    if (source === undefined) return 'ABSENT';
    if (source.object.metadata.labels?.[LABEL.allow] !== 'true') return 'NOT_ALLOWED';
    const password = this.#settings.access.usablePassword(ownValue(source.values, field));
    return password === undefined ? 'UNUSABLE' : { value: password };
  }

  /** Secrets <name>-user-<user>, as children too: whoever deletes the data set deletes them. One of others is only named. */
  async #readUserSecrets(key: ObjectKey, resource: RedisClusterObject, values: Values): Promise<UserSecrets> {
    const { access, secrets } = this.#settings;
    const found = await Promise.all(
      access.userSecretsOf(resource, Object.keys(values)).map(async ({ passwordKey, name, wanted }) => {
        const secret = await secrets.read({ ...key, name });
        return { passwordKey, name, wanted, secret };
      }),
    );
    const isForeign = ({ secret }: (typeof found)[number]): boolean =>
      secret !== undefined && !access.isOurs(secret.object, resource);
    const ours = found.filter((one) => !isForeign(one));
    const states = ours
      .filter(({ wanted }) => wanted)
      .map(({ passwordKey, secret }) => {
        if (secret === undefined) return [passwordKey, 'MISSING'] as const;
        return [
          passwordKey,
          secret.values['password'] === ownValue(values, passwordKey) ? 'CURRENT' : 'OUTDATED',
        ] as const;
      });
    const children = ours.flatMap(({ secret }) => (secret === undefined ? [] : [withoutData(secret.object)]));
    const foreign = found.filter(isForeign).map(({ name }) => name);
    return { userConnections: Object.fromEntries(states), children, foreign };
  }

  async #readAcl(
    { resource, redis, sentinels }: RedisClusterSnapshot,
    secret: SecretContent,
  ): Promise<Pick<RedisClusterSnapshot, 'redis' | 'sentinels'>> {
    const { access, links } = this.#settings;
    const owner = formatObjectKey(objectKeyOf(resource));
    const clients = access.awaitsClients(secret.object.metadata.annotations ?? {});
    const hurry = links.sawExit(owner);
    const ask = async (link: AclSource, component: 'redis' | 'sentinel'): Promise<AclFacts> => {
      const expectation = access.aclExpectation(resource, component, secret.values);
      const answer = link.readAcl(expectation, clients).catch(ignoreSilence);
      return (await (hurry ? withinMs(answer, HURRY_MS, undefined) : answer)) ?? {};
    };
    const addTo = <T extends { readonly reachable: boolean }>(
      facts: Readonly<Record<string, T>>,
      component: 'redis' | 'sentinel',
      find: (pod: string) => AclSource | undefined,
    ): Promise<Readonly<Record<string, T>>> =>
      mapValues(facts, async (pod, known) => {
        const link = known.reachable ? find(pod) : undefined;
        return link === undefined ? known : { ...known, ...(await ask(link, component)) };
      });
    const [seenRedis, seenSentinels] = await Promise.all([
      addTo(redis, 'redis', (pod) => links.findRedis(owner, pod)),
      addTo(sentinels, 'sentinel', (pod) => links.findSentinel(owner, pod)),
    ]);
    return { redis: seenRedis, sentinels: seenSentinels };
  }
}

interface AclSource {
  readAcl(expectation: AclExpectation, clients: boolean): Promise<AclSeen | undefined>;
}

/** Who answered a moment ago and does not now is asked again in the next pass. */
const ignoreSilence = (error: unknown): undefined => {
  if (error instanceof RedisCallError) return undefined;
  throw error;
};

const withoutData = ({ data: _, ...object }: KubeObject): KubeObject => object;

const mapValues = async <T>(
  record: Readonly<Record<string, T>>,
  change: (key: string, value: T) => Promise<T>,
): Promise<Readonly<Record<string, T>>> =>
  Object.fromEntries(
    await Promise.all(Object.entries(record).map(async ([key, value]) => [key, await change(key, value)] as const)),
  );
