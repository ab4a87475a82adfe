import { describe, expect, it } from 'vitest';
import { LABEL } from '#domain';
import type {
  Action,
  AclUserSeen,
  CopySeen,
  CredentialsStatus,
  Plan,
  RedisClusterSnapshot,
  RedisOperationObject,
} from '#domain';
import { CREDENTIALS_ANNOTATION, CREDENTIAL_USERS, wantedUsers, resolveSpec } from '#manifests';
import { NOW_MS, drawSettled } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

/** A data set as far as passwords go: values are version numbers, so that tests can tell them apart. */
interface World {
  readonly snapshot: RedisClusterSnapshot;
  nowMs: number;
  secret: Map<string, string>;
  annotations: Record<string, string>;
  version: number;
  published: string;
  readonly servers: Map<string, { users: Map<string, Set<string>>; login: string }>;
  readonly silent: Set<string>;
  oldestClientS: number;
  /** What the user's own Secret says the password of `app` is; undefined: the agent makes it. */
  source: string | undefined;
  consents: readonly RedisOperationObject[];
  operation: RedisOperationObject;
  /** As the status of the RedisCluster tells them. */
  credentials: CredentialsStatus | undefined;
}

const SECRET = (snapshot: RedisClusterSnapshot): string =>
  snapshot.children.find(({ kind, metadata }) => kind === 'Secret' && metadata.name.endsWith('-credentials'))?.metadata
    .name ?? '';

const newWorld = (spec: Parameters<typeof drawSettled>[0] = {}): World => {
  const snapshot = drawSettled(spec);
  const passwords = new Map<string, string>(CREDENTIAL_USERS.map((user) => [user, 'v1']));
  const servers = snapshot.pods.map(({ name }) => [
    name,
    { users: new Map([...CREDENTIAL_USERS].map((user) => [user, new Set(['v1'])])), login: 'v1' },
  ]) as [string, { users: Map<string, Set<string>>; login: string }][];
  return {
    snapshot,
    nowMs: NOW_MS,
    secret: passwords,
    annotations: {},
    version: 1,
    published: 'v1',
    servers: new Map(servers),
    silent: new Set(),
    oldestClientS: 0,
    source: undefined,
    consents: [],
    operation: running,
    credentials: undefined,
  };
};

const validFor = ({ secret }: World, user: string): Set<string> =>
  new Set(
    [secret.get(user), secret.get(`${user}.next`), secret.get(`${user}.previous`)].filter(
      (value) => value !== undefined,
    ),
  );

const seenUsers = (world: World, pod: string, component: 'redis' | 'sentinel'): Record<string, AclUserSeen> => {
  const wanted = wantedUsers(resolveSpec(world.snapshot.resource.spec), component);
  return Object.fromEntries(
    Object.keys(wanted).map((user) => {
      const accepts = world.servers.get(pod)?.users.get(user) ?? new Set<string>();
      const valid = validFor(world, user);
      const has = (key: string): boolean => accepts.has(world.secret.get(key) ?? 'none');
      return [
        user,
        {
          acceptsCurrent: has(user),
          acceptsNext: has(`${user}.next`),
          acceptsPrevious: has(`${user}.previous`),
          acceptsOthers: [...accepts].some((value) => !valid.has(value)),
          rulesAsWanted: true,
          ...(user === 'app'
            ? {
                oldestConnectionSeconds: world.oldestClientS,
                oldest: [{ address: '10.9.9.9', ageSeconds: world.oldestClientS }],
              }
            : {}),
        },
      ];
    }),
  );
};

const running = {
  metadata: { uid: 'op-1', name: 'r', namespace: 'shop' },
  spec: { redisCluster: 'orders', type: 'RotateCredentials' },
  status: { phase: 'Running' },
} as RedisOperationObject;

const look = (world: World): RedisClusterSnapshot => {
  const status = world.credentials && { credentials: world.credentials };
  const { snapshot } = world;
  const facts = <T extends { readonly reachable: boolean }>(
    known: Readonly<Record<string, T>>,
    component: 'redis' | 'sentinel',
  ) =>
    Object.fromEntries(
      Object.entries(known).map(([pod, value]) => [
        pod,
        world.silent.has(pod)
          ? value
          : {
              ...value,
              users: seenUsers(world, pod, component),
              peerLoginCurrent:
                world.servers.get(pod)?.login === world.secret.get(component === 'redis' ? 'replication' : 'sentinel'),
            },
      ]),
    );
  const children = snapshot.children.map((child) =>
    child.metadata.name === SECRET(snapshot)
      ? {
          ...child,
          keys: [...world.secret.keys()].sort(),
          metadata: { ...child.metadata, resourceVersion: String(world.version), annotations: world.annotations },
        }
      : child,
  );
  return {
    ...snapshot,
    resource: { ...snapshot.resource, ...(status === undefined ? {} : { status }) },
    observedAtMs: world.nowMs,
    children,
    redis: facts(snapshot.redis, 'redis'),
    sentinels: facts(snapshot.sentinels, 'sentinel'),
    connectionOutdated: world.published !== world.secret.get('app'),
    ...(world.source === undefined ? {} : { copies: { app: seenCopy(world, world.source) } }),
    operations: [world.operation, ...world.consents],
  };
};

const seenCopy = ({ secret }: World, source: string): CopySeen => {
  if (source === secret.get('app')) return 'SAME';
  return source === secret.get('app.next') ? 'NEXT' : 'DIFFERENT';
};

const plan = (world: World): Plan =>
  planRedisCluster({ snapshot: look(world), nowMs: world.nowMs, policy: DEFAULT_PLANNER_POLICY });

const addNext = (world: World, { copyFrom }: Extract<Action, { kind: 'WriteCredentials' }>, key: string): void => {
  const made = copyFrom?.[key] === undefined ? undefined : world.source;
  world.secret.set(`${key}.next`, made ?? `v${Number(world.secret.get(key)?.slice(1)) + 1}`);
};

const writeSecret = (world: World, action: Extract<Action, { kind: 'WriteCredentials' }>): void => {
  expect(action.resourceVersion).toBe(String(world.version));
  for (const key of action.passwordKeys) {
    if (action.step === 'ADD') addNext(world, action, key);
    if (action.step === 'SWITCH') {
      world.secret.set(`${key}.previous`, world.secret.get(key) ?? '');
      world.secret.set(key, world.secret.get(`${key}.next`) ?? '');
      world.secret.delete(`${key}.next`);
    }
    if (action.step === 'REMOVE_PREVIOUS') world.secret.delete(`${key}.previous`);
  }
  world.version += 1;
  const annotations = { ...world.annotations, ...action.annotations };
  world.annotations = Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== ''));
};

const setUsers = (world: World, { pod, users }: Extract<Action, { kind: 'SetUsers' }>): void => {
  for (const user of users.filter((each) => world.secret.has(each))) {
    world.servers.get(pod)?.users.set(user, validFor(world, user));
  }
};

const setLogin = (world: World, pod: string, user: string): void => {
  Object.assign(world.servers.get(pod) ?? {}, { login: world.secret.get(user) });
};

const execute = (world: World, action: Action): void => {
  if (action.kind === 'WriteCredentials') writeSecret(world, action);
  else if (action.kind === 'SetUsers') setUsers(world, action);
  else if (action.kind === 'SetReplicationLogin') setLogin(world, action.pod, 'replication');
  else if (action.kind === 'SetSentinelLogin') setLogin(world, action.sentinelPod, 'sentinel');
  else if (action.kind === 'PublishConnection') world.published = world.secret.get('app') ?? '';
  else throw new Error(`not expected: ${action.kind} ${action.message}`);
};

const usersAt = (pod: string): readonly string[] =>
  CREDENTIAL_USERS.filter((user) => user !== 'replication' || !pod.includes('sentinel'));

/** What must hold after every single action: nobody that knows the current password, or was told one, is shut out. */
const check = (world: World): void => {
  for (const [pod, { users, login }] of world.servers) {
    for (const user of usersAt(pod)) {
      expect([...(users.get(user) ?? [])], `${user} at ${pod}`).toContain(world.secret.get(user));
    }
    const peer = pod.includes('sentinel') ? 'sentinel' : 'replication';
    const peers = [...world.servers].filter(([other]) => usersAt(other).includes(peer));
    for (const [, other] of peers) expect([...(other.users.get(peer) ?? [])]).toContain(login);
    expect([...(users.get('app') ?? [])], 'what clients are told').toContain(world.published);
  }
};

/** Passes until nothing is planned any more; each carries out at most `atMost` actions and is then killed. */
const run = (world: World, atMost: number, passes = 200): Plan => {
  let last = plan(world);
  for (let pass = 0; pass < passes && last.actions.length > 0; pass += 1) {
    for (const action of last.actions.slice(0, atMost)) {
      execute(world, action);
      check(world);
    }
    last = plan(world);
  }
  expect(last.actions).toEqual([]);
  return last;
};
const asked = (made: Plan) => made.status.conditions.find(({ type }) => type === 'ActionRequired');
const inSync = (made: Plan) => made.status.conditions.find(({ type }) => type === 'CredentialsInSync');

describe('a rotation', () => {
  it.each([1, 2, 3, 100])('killed after every %i actions goes on, and is done once', (atMost) => {
    const world = newWorld();
    const waiting = run(world, atMost);
    expect(waiting.status.credentials).toMatchObject({ version: 2, step: 'Waiting', oldInUse: false });
    expect(waiting.status.phase).toBe('Ready');
    expect(inSync(waiting)).toMatchObject({ status: 'False', reason: 'RotationWaiting' });
    expect([...world.secret.keys()].filter((key) => key.endsWith('.previous'))).toHaveLength(4);
    world.nowMs += 179_000;
    expect(plan(world).actions).toEqual([]);
    world.nowMs += 2_000;
    const settled = run(world, atMost);
    expect(settled.status.credentials).toEqual({ version: 2, step: 'Settled' });
    expect(inSync(settled)).toMatchObject({ status: 'True', reason: 'InSync' });
    expect([...world.secret.values()]).toEqual(['v2', 'v2', 'v2', 'v2']);
    for (const { users, login } of world.servers.values()) {
      expect(login).toBe('v2');
      expect([...(users.get('app') ?? [])]).toEqual(['v2']);
    }
    expect(world.annotations).toEqual({
      [CREDENTIALS_ANNOTATION.version]: '2',
      [CREDENTIALS_ANNOTATION.rotatedFor]: 'op-1',
    });
  });

  it('keeps the old password while a client is connected since before the new one was told', () => {
    const world = newWorld();
    run(world, 100);
    world.nowMs += 300_000;
    world.oldestClientS = 900;
    const held = plan(world);
    expect(held.actions).toEqual([]);
    expect(held.status.credentials?.oldInUse).toBe(true);
    expect(inSync(held)?.reason).toBe('OldPasswordInUse');
    expect(inSync(held)?.message).toContain('10.9.9.9 (app at ');
    expect(asked(held)).toMatchObject({ status: 'False' });
    world.nowMs += 24 * 3_600_000;
    world.oldestClientS = 900_000;
    expect(asked(plan(world))).toMatchObject({ status: 'True', reason: 'OldPasswordInUse' });
    world.oldestClientS = 60;
    expect(run(world, 100).status.credentials?.step).toBe('Settled');
  });

  it('does not begin, and does not go on, while a server cannot be asked: it would be locked out', () => {
    const world = newWorld();
    const replica = [...world.servers.keys()][1] ?? '';
    world.silent.add(replica);
    const waiting = plan(world);
    expect(waiting.actions).toEqual([]);
    expect(inSync(waiting)?.message).toContain(`${replica} does not answer`);
    world.silent.clear();
    const [begun] = plan(world).actions;
    execute(world, begun as Action);
    world.silent.add(replica);
    const stuck = run(world, 100);
    expect(stuck.status.credentials?.step).toBe('Adding');
    world.silent.clear();
    const pending = {
      ...look(world),
      pods: world.snapshot.pods.map(({ ip, ...pod }) =>
        pod.name === replica || ip === undefined ? pod : { ...pod, ip },
      ),
    };
    const held = planRedisCluster({ snapshot: pending, nowMs: world.nowMs, policy: DEFAULT_PLANNER_POLICY });
    expect(inSync(held)?.message).toContain(`${replica} does not run yet`);
    expect(run(world, 100).status.credentials?.step).toBe('Waiting');
  });
});

describe('a rotation that waits for an old client', () => {
  const consent = (planHash: string): RedisOperationObject =>
    ({
      metadata: { uid: 'op-2', name: 'end', namespace: 'shop', creationTimestamp: new Date(NOW_MS).toISOString() },
      spec: { redisCluster: 'orders', type: 'Consent', consent: { planHash } },
      status: { phase: 'Running' },
    }) as RedisOperationObject;
  const waiting = (world: World): World => {
    run(world, 100);
    world.nowMs += 300_000;
    world.oldestClientS = 900;
    expect(plan(world).status.credentials?.step).toBe('Waiting');
    return world;
  };
  const acceptedBy = (world: World, user: string) => [...world.servers.values()].map(({ users }) => users.get(user));

  it('is ended by a consent to this very one: the passwords of clients go, though a server does not answer', () => {
    const world = waiting(newWorld());
    world.silent.add([...world.servers.keys()][2] ?? '');
    world.consents = [consent('end-rotation-1')];
    expect(plan(world).actions).toEqual([]);
    world.consents = [consent('end-rotation-2')];
    expect(plan(world).actions).toMatchObject([
      { kind: 'WriteCredentials', step: 'REMOVE_PREVIOUS', passwordKeys: ['app'], reason: 'RotationEndedByConsent' },
    ]);
    run(world, 100);
    expect([...world.secret.keys()].filter((key) => key.endsWith('.previous'))).not.toContain('app.previous');
    expect(acceptedBy(world, 'app').filter((valid) => valid?.has('v1'))).toHaveLength(1);
    world.silent.clear();
    expect(run(world, 100).status.credentials).toEqual({ version: 2, step: 'Settled' });
    expect(acceptedBy(world, 'app').filter((valid) => valid?.has('v1'))).toEqual([]);
  });

  it('a new user gets a password meanwhile, and is no part of it', () => {
    const users = [{ name: 'metrics', rules: '+@read ~*' }];
    const world = waiting(newWorld());
    const { snapshot } = world;
    const spec = { ...snapshot.resource.spec, auth: { users } };
    const picture = { ...look(world), resource: { ...snapshot.resource, spec } };
    const made = planRedisCluster({ snapshot: picture, nowMs: world.nowMs, policy: DEFAULT_PLANNER_POLICY });
    expect(made.actions.filter(({ kind }) => kind === 'WriteCredentials')).toMatchObject([
      { step: 'ADD', passwordKeys: ['user.metrics'], annotations: {} },
    ]);
  });

  const copied = (): World => {
    const world = newWorld({ auth: { secretRef: { name: 'mine', key: 'password' } } });
    world.operation = { ...world.operation, status: { phase: 'Succeeded' } };
    world.source = 'v1';
    expect(run(world, 100).status.credentials?.step).toBe('Settled');
    world.source = 'v2';
    return waiting(world);
  };

  it("the user's Secret changes again: the third is accepted at once, beside the two, and becomes current after them", () => {
    const world = copied();
    world.source = 'v3';
    run(world, 100);
    for (const valid of acceptedBy(world, 'app')) expect([...(valid ?? [])].sort()).toEqual(['v1', 'v2', 'v3']);
    expect(world.published).toBe('v2');
    world.source = 'v4';
    run(world, 100);
    for (const valid of acceptedBy(world, 'app')) expect([...(valid ?? [])].sort()).toEqual(['v1', 'v2', 'v4']);
    world.oldestClientS = 10;
    run(world, 100);
    expect(world.published).toBe('v4');
    world.nowMs += 300_000;
    run(world, 100);
    for (const valid of acceptedBy(world, 'app')) expect([...(valid ?? [])]).toEqual(['v4']);
  });

  it("the user's Secret changes back: the password before is never taken away, and becomes current again", () => {
    const world = copied();
    world.source = 'v1';
    const everywhere = (): void => {
      for (const valid of acceptedBy(world, 'app')) expect([...(valid ?? [])]).toContain('v1');
    };
    for (let pass = 0; pass < 60; pass += 1) {
      for (const action of plan(world).actions) {
        execute(world, action);
        check(world);
        everywhere();
      }
      world.oldestClientS = 10;
    }
    expect(world.secret.get('app')).toBe('v1');
    expect(world.published).toBe('v1');
  });
});

describe('the operation that asks for a rotation', () => {
  /** One pass: what is planned is done up to a kill, and told only by an agent that lives. */
  const pass = (world: World, killedAfter: number): Plan => {
    const made = plan(world);
    for (const action of made.actions.slice(0, killedAfter)) {
      execute(world, action);
      check(world);
    }
    if (made.actions.length > killedAfter) return made;
    const [told] = made.operations ?? [];
    if (told !== undefined)
      world.operation = { ...world.operation, status: { phase: told.phase, reason: told.reason } };
    world.credentials = made.status.credentials;
    return made;
  };
  const follow = (world: World, killedAfter: number): readonly string[] => {
    const phases: string[] = [];
    for (let count = 0; count < 300 && world.operation.status?.phase !== 'Succeeded'; count += 1) {
      pass(world, count % 7 === 3 ? killedAfter : 100);
      const phase = world.operation.status?.phase ?? 'none';
      if (phases.at(-1) !== phase) phases.push(phase);
      world.nowMs += 2_000;
    }
    return phases;
  };

  it.each([0, 1, 2])('goes from Running to Succeeded once, through agents killed after %i actions', (killedAfter) => {
    const world = newWorld();
    const { status: _, ...asked } = running;
    world.operation = asked;
    expect(follow(world, killedAfter)).toEqual(['Running', 'Succeeded']);
    expect(world.annotations[CREDENTIALS_ANNOTATION.rotatedFor]).toBe('op-1');
    expect([...world.secret.values()]).toEqual(['v2', 'v2', 'v2', 'v2']);
    for (const { users, login } of world.servers.values()) {
      expect(login).toBe('v2');
      expect([...(users.get('app') ?? [])]).toEqual(['v2']);
    }
    run(world, 100);
    expect(world.annotations[CREDENTIALS_ANNOTATION.version]).toBe('2');
  });
});

describe('users of a server', () => {
  it('a password or a right that somebody set by hand is set back; a new process is told its users', () => {
    const world = newWorld();
    world.annotations = { [CREDENTIALS_ANNOTATION.rotatedFor]: 'op-1' };
    expect(plan(world).actions).toEqual([]);
    const [pod = '', server] = [...world.servers][0] ?? [];
    server?.users.set('app', new Set(['by-hand']));
    const made = plan(world);
    expect(made.actions).toMatchObject([{ kind: 'SetUsers', pod, users: ['app'] }]);
    expect(made.status.phase).toBe('Ready');
    run(world, 100);
    expect([...(server?.users.get('app') ?? [])]).toEqual(['v1']);
  });

  it('one that the spec no longer names is deleted from every server, then forgotten with its Secret', () => {
    const world = newWorld();
    world.annotations = { [CREDENTIALS_ANNOTATION.rotatedFor]: 'op-1' };
    world.secret.set('user.cache', 'v1');
    const gone = { acceptsCurrent: false, acceptsPrevious: false, acceptsOthers: true, rulesAsWanted: false };
    const snapshot = look(world);
    const [pod = ''] = Object.keys(snapshot.redis);
    const facts = snapshot.redis[pod];
    if (facts?.reachable !== true) throw new Error('silent');
    const withGoner = {
      ...snapshot,
      redis: { ...snapshot.redis, [pod]: { ...facts, users: { ...facts.users, cache: gone } } },
    };
    const policy = DEFAULT_PLANNER_POLICY;
    const first = planRedisCluster({ snapshot: withGoner, nowMs: world.nowMs, policy });
    expect(first.actions).toMatchObject([{ kind: 'SetUsers', pod, users: [], remove: ['cache'] }]);
    const labels = { [LABEL.dataSet]: SECRET(snapshot).split('-').at(-2) ?? '' };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'orders-user-cache', uid: 'u', labels } };
    const later = planRedisCluster({
      snapshot: { ...snapshot, children: [...snapshot.children, secret] },
      nowMs: world.nowMs,
      policy,
    });
    expect(later.actions).toMatchObject([
      { kind: 'DeleteChild', key: { name: 'orders-user-cache' } },
      { kind: 'WriteCredentials', step: 'REMOVE_USERS', passwordKeys: ['user.cache'] },
    ]);
  });
});
