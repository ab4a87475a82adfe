import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { AGENT_PATH, SUBPROTOCOL } from '#protocol';
import { createTestCertificates } from '#testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { WebSocketServer } from 'ws';
import { Connection } from './connection.ts';

const GONE_AFTER_MS = 1_000;
let sockets: WebSocketServer;
let address: string;
let caPem: string;
const ends: string[] = [];
let connection: Connection;
let hub: WebSocket;

beforeEach(async () => {
  const certificates = await createTestCertificates();
  caPem = certificates.caPem;
  const server = createServer({ cert: certificates.certificatePem, key: certificates.privateKeyPem });
  sockets = new WebSocketServer({ server, path: AGENT_PATH, handleProtocols: () => SUBPROTOCOL, autoPong: false });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  sockets.once('close', () => server.close());
  const arrived = new Promise<WebSocket>((resolve) => sockets.once('connection', resolve));
  const silence = { pingAfterMs: 400, goneAfterMs: GONE_AFTER_MS };
  const events = { onFrame: () => undefined, onEnd: (reason: string) => void ends.push(reason) };
  connection = new Connection({ hubAddress: address, cas: [caPem], silence }, events);
  hub = await arrived;
});
afterEach(() => {
  connection.close('the test is over');
  hub.terminate();
  sockets.close();
  ends.length = 0;
});

/** This process does nothing meanwhile, not even read. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

describe('the silence of a hub', () => {
  it('ends the connection', async () => {
    await expect.poll(() => ends).toEqual([expect.stringContaining('nothing heard from the hub')]);
  });

  it('is not the standing still of this process: what came meanwhile is read before it is judged', async () => {
    hub.send('{}');
    standStill(GONE_AFTER_MS + 400);
    await turn();
    await turn();
    expect(ends).toEqual([]);
  });
});
