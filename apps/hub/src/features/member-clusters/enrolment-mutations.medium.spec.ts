import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../test/api-client.ts';
import { clientWith, createRedisCluster, makeProject, startApi, type Api } from '../../../test/api-fixture.ts';
import { createIdentity, TestAgent } from '../../../test/test-agent.ts';

const ENROLLED = `memberCluster { id name state region labels freshness agents { id state } }
  agent { id scope namespace state connected } token tokenExpiresAt hubAddress installCommand caCertificate`;
const APPROVED = 'agent { id state fingerprint version } memberCluster { id state fingerprint }';

describe('enrolment by mutations', () => {
  let api: Api;
  let names = 0;
  const newMember = (): string => `member-x-${(names += 1)}`;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  const enrol = (input: object = {}): Promise<Json> =>
    api.admin.mutate('enrolMemberCluster', { name: newMember(), ...input }, ENROLLED);
  const codes = (payload: Json): unknown[] =>
    (payload['userErrors'] as unknown as { code: string }[]).map((error) => error.code);
  const idOf = (payload: Json, of: string): string => String((payload[of] as Json)['id']);
  /** An agent that came with the token, and waits. */
  const come = async (payload: Json, fingerprint?: string): Promise<TestAgent> => {
    const agent = await TestAgent.connect(api.hub, createIdentity(fingerprint));
    agent.enrol(String(payload['token']));
    await agent.next('EnrolPending');
    return agent;
  };

  it('gives everything that installs the agent', async () => {
    const payload = await enrol({ name: 'eu-1', region: 'eu', labels: { tier: 'production' } });
    expect(payload).toMatchObject({
      memberCluster: {
        name: 'eu-1',
        state: 'PENDING',
        region: 'eu',
        labels: { tier: 'production' },
        freshness: 'UNKNOWN',
      },
      agent: { scope: 'CLUSTER', namespace: null, state: 'PENDING_TOKEN', connected: false },
      hubAddress: api.hub.ready.agentAddress,
      userErrors: [],
    });
    expect(payload['caCertificate']).toBe(await readFile(api.hub.ready.caFile, 'utf8'));
    for (const part of [api.hub.ready.agentAddress, 'helm install', '-----BEGIN CERTIFICATE-----']) {
      expect(payload['installCommand']).toContain(part);
    }
    // It ends up in a shell's history and in the arguments of processes.
    expect(payload['token']).toMatch(/^\S{20,}$/);
    expect(payload['installCommand']).not.toContain(payload['token']);
  });

  it('binds the agent that came with the token when a person approves it', async () => {
    const payload = await enrol();
    const agent = await come(payload, 'kubeSystemUid:abc');
    const approved = await api.admin.mutate('approveAgent', { agentId: idOf(payload, 'agent') }, APPROVED);
    expect(approved).toMatchObject({
      agent: { state: 'ACTIVE', fingerprint: 'kubeSystemUid:abc', version: '0.1.0' },
      memberCluster: { id: idOf(payload, 'memberCluster'), state: 'ACTIVE', fingerprint: 'kubeSystemUid:abc' },
      userErrors: [],
    });
    await agent.next('Enrolled');
    agent.close();
    const again = await api.admin.mutate('approveAgent', { agentId: idOf(payload, 'agent') }, APPROVED);
    expect(codes(again)).toEqual([]);
  });

  it('refuses approval before an agent came, and of one that is not there', async () => {
    const payload = await enrol();
    expect(codes(await api.admin.mutate('approveAgent', { agentId: idOf(payload, 'agent') }, APPROVED))).toEqual([
      'INVALID_INPUT',
    ]);
    expect(codes(await api.admin.mutate('approveAgent', { agentId: 'nonsense' }, APPROVED))).toEqual(['NOT_FOUND']);
    const wrong = { agentId: idOf(payload, 'agent'), memberClusterId: 'nonsense' };
    expect(codes(await api.admin.mutate('approveAgent', wrong, APPROVED))).toEqual(['NOT_FOUND']);
  });

  it('refuses a Kubernetes cluster that is a member already', async () => {
    const first = await enrol();
    const second = await enrol();
    const agents = [await come(first, 'kubeSystemUid:twin'), await come(second, 'kubeSystemUid:twin')];
    expect(codes(await api.admin.mutate('approveAgent', { agentId: idOf(first, 'agent') }, APPROVED))).toEqual([]);
    expect(codes(await api.admin.mutate('approveAgent', { agentId: idOf(second, 'agent') }, APPROVED))).toEqual([
      'ALREADY_EXISTS',
    ]);
    for (const agent of agents) agent.close();
  });

  it('joins an agent of scope NAMESPACE to the member cluster it runs in', async () => {
    const payload = await enrol({ scope: 'NAMESPACE', namespace: 'team-a' });
    expect(payload).toMatchObject({ agent: { scope: 'NAMESPACE', namespace: 'team-a' } });
    const identity = { ...createIdentity('rootCa:1+ns:2'), scope: { kind: 'NAMESPACE', namespace: 'team-a' } as const };
    const agent = await TestAgent.connect(api.hub, identity);
    agent.enrol(String(payload['token']));
    await agent.next('EnrolPending');
    const joined = { agentId: idOf(payload, 'agent'), memberClusterId: api.memberClusterId };
    expect(await api.admin.mutate('approveAgent', joined, APPROVED)).toMatchObject({
      memberCluster: { id: api.memberClusterId },
    });
    agent.close();
  });

  describe('of a second agent', () => {
    const comeFor = async (namespace: string): Promise<Json> => {
      const payload = await enrol({ scope: 'NAMESPACE', namespace });
      const identity = {
        ...createIdentity(`rootCa:1+ns:${namespace}`),
        scope: { kind: 'NAMESPACE', namespace } as const,
      };
      const agent = await TestAgent.connect(api.hub, identity);
      agent.enrol(String(payload['token']));
      await agent.next('EnrolPending');
      agent.close();
      return payload;
    };
    const join = (payload: Json): Promise<Json> =>
      api.admin.mutate(
        'approveAgent',
        { agentId: idOf(payload, 'agent'), memberClusterId: api.memberClusterId },
        APPROVED,
      );

    it('is refused where its scope has one, until that one is revoked', async () => {
      const [first, second] = [await comeFor('team-b'), await comeFor('team-b')];
      expect(codes(await join(first))).toEqual([]);
      expect(await join(second)).toMatchObject({
        agent: null,
        userErrors: [{ code: 'ALREADY_EXISTS', field: ['input', 'memberClusterId'] }],
      });
      await api.admin.mutate('revokeAgent', { agentId: idOf(first, 'agent') }, 'agent { id }');
      expect(codes(await join(second))).toEqual([]);
    });

    it('leaves no member cluster behind that waits for nobody, and its name is free', async () => {
      const payload = await comeFor('team-c');
      const name = String((payload['memberCluster'] as Json)['name']);
      await join(payload);
      const listed = await api.admin.query('{ memberClusters(first: 100) { nodes { name } } }');
      expect(listed.text).not.toContain(`"${name}"`);
      expect(codes(await enrol({ name }))).toEqual([]);
    });
  });

  it.each([
    ['a name that is no label', { name: 'EU 1' }, 'name'],
    ['labels that are no text', { labels: { tier: 3 } }, 'labels'],
    ['scope NAMESPACE without a namespace', { scope: 'NAMESPACE' }, 'namespace'],
    ['an address that is not the hub', { hubAddress: 'evil.example:1' }, 'hubAddress'],
  ])('refuses %s', async (_what, input, field) => {
    expect(await enrol(input)).toMatchObject({
      memberCluster: null,
      token: null,
      userErrors: [{ code: 'INVALID_INPUT', field: ['input', field] }],
    });
  });

  it('refuses a taken name', async () => {
    const name = newMember();
    await enrol({ name });
    expect(codes(await enrol({ name }))).toEqual(['ALREADY_EXISTS']);
  });

  it('repeated with its idempotency key issues a new token, and the old one counts no more', async () => {
    const input = { name: newMember(), idempotencyKey: 'enrol-1' };
    const first = await enrol(input);
    const second = await enrol(input);
    expect(idOf(second, 'agent')).toBe(idOf(first, 'agent'));
    expect(second['token']).not.toBe(first['token']);
    const late = await TestAgent.connect(api.hub, createIdentity());
    late.enrol(String(first['token']));
    expect(await late.next('Refused')).toMatchObject({ code: 'TOKEN_INVALID' });
    (await come(second)).close();
    expect(await enrol(input)).toMatchObject({ token: null, installCommand: null, userErrors: [] });
  });

  it('revokes an agent: its session ends, and its objects say so', async () => {
    const payload = await enrol();
    const agent = await come(payload);
    await api.admin.mutate('approveAgent', { agentId: idOf(payload, 'agent') }, APPROVED);
    agent.close();
    const revoked = await api.admin.mutate(
      'revokeAgent',
      { agentId: idOf(payload, 'agent') },
      'agent { state connected }',
    );
    expect(revoked).toMatchObject({ agent: { state: 'REVOKED', connected: false }, userErrors: [] });
    expect(codes(await api.admin.mutate('revokeAgent', { agentId: 'nonsense' }, 'agent { id }'))).toEqual([
      'NOT_FOUND',
    ]);
  });

  it('gives a quarantined agent its key back in its own member cluster only', async () => {
    const payload = await enrol();
    const agentId = idOf(payload, 'agent');
    (await come(payload)).close();
    await api.admin.mutate('approveAgent', { agentId }, APPROVED);
    const { dataSource } = api.hub.runtime;
    await dataSource.query(
      `UPDATE agent SET state = 'QUARANTINED', state_reason = 'test' WHERE member_cluster_id =
         (SELECT id FROM member_cluster WHERE name = $1)`,
      [(payload['memberCluster'] as Json)['name']],
    );
    const moved = await api.admin.mutate('approveAgent', { agentId, memberClusterId: api.memberClusterId }, APPROVED);
    expect(moved).toMatchObject({ agent: null, userErrors: [{ code: 'INVALID_INPUT' }] });
    const approved = await api.admin.mutate('approveAgent', { agentId }, APPROVED);
    expect(approved).toMatchObject({ agent: { state: 'ACTIVE' }, userErrors: [] });
  });

  it('forgets a member cluster and lists what stays there', async () => {
    const payload = await enrol();
    const agent = await come(payload);
    await api.admin.mutate('approveAgent', { agentId: idOf(payload, 'agent') }, APPROVED);
    const memberClusterId = idOf(payload, 'memberCluster');
    const { hubUid } = await createRedisCluster(api, { memberClusterId });
    const fields = 'memberCluster { state } orphanedHubUids';
    const forgotten = await api.admin.mutate('forgetMemberCluster', { memberClusterId }, fields);
    expect(forgotten).toMatchObject({
      memberCluster: { state: 'FORGOTTEN' },
      orphanedHubUids: [hubUid],
      userErrors: [],
    });
    expect(codes(await api.admin.mutate('forgetMemberCluster', { memberClusterId }, fields))).toEqual(['NOT_FOUND']);
    const listed = await api.admin.query('{ memberClusters(first: 100) { nodes { id } } }');
    expect(listed.text).not.toContain(memberClusterId);
    agent.close();
  });

  it('is for administrators of the fleet only', async () => {
    const project = await makeProject(api.hub, 'tenant');
    const { client } = await clientWith(api.hub, [
      { role: 'OPERATOR', projectId: null },
      { role: 'ADMIN', projectId: project.id },
    ]);
    const payload = await enrol();
    const tries: [string, object][] = [
      ['enrolMemberCluster', { name: newMember() }],
      ['approveAgent', { agentId: idOf(payload, 'agent') }],
      ['revokeAgent', { agentId: idOf(payload, 'agent') }],
      ['forgetMemberCluster', { memberClusterId: idOf(payload, 'memberCluster') }],
    ];
    for (const [name, input] of tries) expect(codes(await client.mutate(name, input, '')), name).toEqual(['FORBIDDEN']);
    await client.close();
  });

  it('keeps no token: not in audit, not with the idempotency key, not in an answer that comes later', async () => {
    const payload = await enrol({ idempotencyKey: 'enrol-2' });
    const token = String(payload['token']);
    const { dataSource } = api.hub.runtime;
    const kept: unknown[] = [];
    for (const table of ['audit', 'idempotency_key', 'enrolment_token', 'agent', 'member_cluster', 'change_log']) {
      kept.push(await dataSource.query(`SELECT t::text FROM ${table} t`));
    }
    expect(JSON.stringify(kept)).not.toContain(token);
    const answer = await api.admin.query(
      '{ audit(first: 100) { nodes { before after target } } memberClusters { nodes { name } } }',
    );
    expect(answer.text).not.toContain(token);
  });

  it('lists member clusters and local objects', async () => {
    const answer = await api.admin.query(
      `query Q($id: ID!) { memberCluster(id: $id) { id name state freshness seenAt ageSeconds agents { id connected inventory
         appliedRevision desiredRevision sessionNo freshness memberCluster { id } } } localObjects(memberClusterId: $id) { name unclaimed }
         node(id: $id) { id ... on MemberCluster { name } } memberClusters(first: 1) { nodes { id } totalCount pageInfo { hasNextPage } } }`,
      { id: api.memberClusterId },
    );
    expect(answer.errors).toEqual([]);
    expect(answer.data).toMatchObject({
      memberCluster: {
        state: 'ACTIVE',
        agents: expect.arrayContaining([
          expect.objectContaining({ memberCluster: { id: api.memberClusterId }, connected: false }),
        ]) as unknown,
      },
      node: { id: api.memberClusterId },
    });
  });
});
