/**
 * What a built hub prints while strangers talk to its ports: lines of its log, and nothing else. A library that prints by
 * itself (of the WebSocket's protocol, say) would let a stranger write any text to the log, as often as they like.
 */
import { readFile } from 'node:fs/promises';
import { connect as connectTls } from 'node:tls';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { HubProcess } from '../../../../tools/fleet/hub-process.ts';
import { createTestDatabase } from '../start-test-hub.ts';
import { ProcessWorld } from './process-world.ts';
import { WAIT } from '../wait.ts';

const STRANGERS = 40;
const TEXT = 'stranger-was-here';

let world: ProcessWorld;
let hub: HubProcess;
beforeAll(async () => {
  world = await ProcessWorld.start(await createTestDatabase());
  hub = await world.startHub('only');
});
afterAll(() => world.close());

/** Says `frames` over a WebSocket of that protocol, and waits for its end. */
const talk = (url: string, protocol: string, frames: readonly (string | Buffer)[]): Promise<void> =>
  new Promise((done) => {
    const socket = new WebSocket(url, [protocol], { rejectUnauthorized: false });
    const timer = setTimeout(() => socket.terminate(), 1_000);
    socket.on('open', () => frames.forEach((frame) => socket.send(frame)));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      done();
    });
  });

/** Says `bytes` behind TLS, whatever the port speaks. */
const say = (host: string, port: number, bytes: string): Promise<void> =>
  new Promise((done) => {
    const socket = connectTls({ host, port, rejectUnauthorized: false }, () => socket.end(bytes));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on('data', () => undefined);
    socket.on('error', () => undefined);
    socket.on('close', () => done());
  });

const readLines = async (): Promise<string[]> => (await readFile(hub.logFile, 'utf8')).trimEnd().split('\n');

describe('a hub that strangers talk to', () => {
  it('prints lines of its log and nothing else, each bounded, and not one for each of them', async () => {
    const api = new URL(hub.apiUrl);
    const graphql = `wss://${api.host}/graphql`;
    const agents = new URL(`wss://${hub.agentAddress}`);
    const before = (await readLines()).length;
    const frames = [TEXT, '{}', JSON.stringify({ type: 'connection_init', payload: TEXT }), Buffer.alloc(9, 255)];
    await Promise.all(
      Array.from({ length: STRANGERS }, async (_, at) => {
        await talk(graphql, `${TEXT}-${at}`, frames);
        await talk(graphql, 'graphql-transport-ws', frames);
        await talk(`${agents.href}v1/connect`, TEXT, frames);
        await say(api.hostname, Number(api.port), `${TEXT} / HTTP/9\r\nHost: ${TEXT}\r\n\r\n${TEXT}`);
        await say(agents.hostname, Number(agents.port), `GET /${TEXT} HTTP/1.1\r\n\r\n`);
        await fetchStatus(`${hub.apiUrl}/graphql`, `{"query": "{ ${TEXT} }`);
      }),
    );
    await expect.poll(() => fetchStatus(`${hub.apiUrl}/readyz`), WAIT).toBe(200);
    const lines = await readLines();
    const foreign = lines.filter((line) => !isOurs(line));
    expect(foreign).toEqual([]);
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(16_000);
    expect(lines.length - before).toBeLessThan(STRANGERS);
  });
});

function isOurs(line: string): boolean {
  try {
    const { level, time, msg } = JSON.parse(line) as Record<string, unknown>;
    return typeof level === 'number' && typeof time === 'string' && typeof msg === 'string' && !msg.includes(TEXT);
  } catch {
    return false;
  }
}

/** The status of the answer. */
async function fetchStatus(url: string, body?: string): Promise<number> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const post = { method: 'POST', body: body ?? '', headers: { 'content-type': 'application/json' } };
    return (await fetch(url, { dispatcher, ...(body === undefined ? {} : post) })).status;
  } finally {
    await dispatcher.destroy();
  }
}
