import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { enrolAgent, openSession } from '../../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';

/** What a balancer that ends TLS does: bytes to the plain listener and back. */
let balancer: Server;
let plainPort: number;
let hub: TestHub;
const sockets = new Set<Socket>();

beforeAll(async () => {
  balancer = createServer((front) => {
    const back = connectTcp(plainPort, '127.0.0.1');
    sockets.add(back);
    front.on('error', () => back.destroy()).pipe(back);
    back.on('error', () => front.destroy()).pipe(front);
  });
  await new Promise<void>((done) => balancer.listen(0, '127.0.0.1', done));
  const { port } = balancer.address() as AddressInfo;
  hub = await startTestHub(await createTestDatabase(), {
    agentTls: false,
    // The first is what agents dial and sign; the second shows the port that the plain listener got.
    publicAgentAddresses: [`127.0.0.1:${port}`, '127.0.0.1:0'],
  });
  plainPort = Number(hub.runtime.addresses.agents[1]?.split(':')[1]);
  balancer.setSecureContext({ cert: hub.runtime.tls.certificate, key: hub.runtime.tls.privateKey });
});
afterAll(async () => {
  await hub.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((done) => balancer.close(done));
});

/** Sends a request as it is; resolves with all that comes until the hub closes, or with the first part of it. */
function request(text: string): Promise<string> {
  const socket = connectTcp(plainPort, '127.0.0.1', () => socket.write(text));
  return new Promise((done, failed) => {
    socket.once('data', (data) => {
      socket.destroy();
      done(data.toString());
    });
    socket.once('error', failed);
  });
}

describe('a hub behind a balancer that ends TLS', () => {
  it('enrols agents and serves them, who verify the certificate and sign the address they dial', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent, welcome } = await openSession(hub, enrolled);
    expect(welcome.mode).toBe('SNAPSHOT');
    agent.close();
  });

  it('answers nothing but the one path, in plain text', async () => {
    expect(await request('GET / HTTP/1.1\r\nHost: hub\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /);
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
    const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: atoll.v1\r\n\r\n';
    const [dialled] = hub.runtime.addresses.agents;
    expect(await request(`GET /other HTTP/1.1\r\nHost: ${dialled}\r\n${upgrade}${key}`)).toMatch(/^HTTP\/1\.1 404 /);
    expect(await request(`GET /agent/v1 HTTP/1.1\r\nHost: ${dialled}\r\n${upgrade}${key}`)).toMatch(/^HTTP\/1\.1 101 /);
  });
});
