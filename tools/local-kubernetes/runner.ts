// First process of a cluster's process namespace: when it ends, the kernel ends everything in the cluster.
// Its one argument is the ClusterSpec as JSON. It ends with the process that started it, whose end closes the pipe
// on stdin, unless the cluster is detached.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { forEachLine } from '../setup/run-command.ts';
import { clusterFolders, type ClusterSpec } from './cluster-spec.ts';
import { ClusterRunner } from './cluster-runner.ts';
import type { ControlMessage, ControlRequest } from './control-protocol.ts';
import { removeCluster } from './leftovers.ts';

const spec = JSON.parse(process.argv[2] ?? '') as ClusterSpec;
const folders = clusterFolders(spec.index);

if (!spec.detached) {
  process.stdin.resume();
  process.stdin.on('end', () => process.exit(0));
  process.stdin.on('error', () => process.exit(0));
}
process.on('unhandledRejection', (error) => console.error(error));

await removeCluster(spec.index); // left by a run that was killed
mkdirSync(folders.root, { recursive: true });
writeFileSync(folders.specFile, JSON.stringify(spec));
const runner = new ClusterRunner(spec);
let started = false;

/** Whoever called for the start and went away before it was done shall not leave half a cluster running. */
function endUnlessStarted(socket: Socket): void {
  socket.once('close', () => {
    if (!started) process.exit(1);
  });
}

async function answer(socket: Socket, line: string): Promise<void> {
  const send = (message: ControlMessage) => {
    if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
  };
  const { id, ...call } = JSON.parse(line) as ControlRequest;
  if (call.call === 'start') endUnlessStarted(socket);
  try {
    const value = await runner.handle(call, (log) => send({ log }));
    if (call.call === 'start') started = true;
    send({ id, value });
  } catch (error) {
    send({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

const server = createServer((socket) => {
  socket.on('error', () => socket.destroy());
  forEachLine(socket, (line) => void answer(socket, line));
});
rmSync(folders.controlSocket, { force: true });
server.listen(folders.controlSocket, () => console.log('listening'));
