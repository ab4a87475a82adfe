import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ApiClient, type ApiAnswer } from '../../../test/api-client.ts';
import { countStatements } from '../../../test/count-statements.ts';
import { lookAt } from '../../../test/look-at.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';
import { BURST } from './unknown-tokens.rules.ts';

let hub: TestHub;
let admin: ApiClient;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase(), { environment: 'production', trustedProxies: ['127.0.0.1'] });
  admin = await ApiClient.admin(hub);
});
afterAll(async () => {
  await admin.close();
  await hub.close();
});

/** One request with a token that nobody has, behind a proxy that names the address. */
async function guess(address: string): Promise<ApiAnswer> {
  const client = new ApiClient(hub, randomBytes(24).toString('base64url'));
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
  return client.send({ headers, body: JSON.stringify({ query: '{ viewer { name } }' }) }).finally(() => client.close());
}
const codesOf = (answers: readonly ApiAnswer[]): string[] =>
  answers.map(({ errors }) => errors[0]?.extensions.code ?? 'none');

describe('tokens that the hub does not know', () => {
  it('ask the database no more than the budget of their address, and hold up neither an admin there nor /readyz', async () => {
    let answers: ApiAnswer[] = [];
    const statements = await countStatements(async () => {
      answers = await Promise.all(Array.from({ length: 200 }, () => guess('203.0.113.5')));
    });
    const lookUps = [...statements].filter(([text]) => text.includes('FROM api_token')).map(([, count]) => count);
    expect(lookUps.reduce((sum, count) => sum + count, 0)).toBeLessThan(2 * BURST);
    expect(codesOf(answers).filter((code) => code === 'UNAUTHENTICATED').length).toBeLessThan(2 * BURST);
    expect(new Set(codesOf(answers))).toEqual(new Set(['UNAUTHENTICATED', 'TOO_MANY_REQUESTS']));
    expect(answers.find(({ status }) => status === 429)?.errors[0]?.message).toContain('your address');
    expect((await admin.query('{ viewer { name } }')).errors).toEqual([]);
    expect(await lookAt(hub, '/readyz')).toBe(200);
  });

  it('are counted by the network of an IPv6 address, and apart from those of other addresses', async () => {
    const same = await Promise.all(Array.from({ length: 100 }, (_, at) => guess(`2001:db8::${at}`)));
    expect(codesOf(same)).toContain('TOO_MANY_REQUESTS');
    expect(codesOf([await guess('2001:db8:1::1')])).toEqual(['UNAUTHENTICATED']);
  });
});
