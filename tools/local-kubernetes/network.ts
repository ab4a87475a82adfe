import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileLock } from '../setup/hold-file-lock.ts';
import { runCommand, tryCommand } from '../setup/run-command.ts';
import { clusterAddresses, nodeAddresses, TEST_NETWORK } from './addresses.ts';
import { STATE_FOLDER, type ClusterSpec } from './cluster-spec.ts';

const NETWORK_LOCK = join(STATE_FOLDER, 'network.lock');
const COMMAND_TIMEOUT_MS = 20_000;

/** The cluster's bridge on the host; what of the test network nobody has goes nowhere, not to the default route. */
export async function addBridge(index: number): Promise<void> {
  const { bridge, host } = clusterAddresses(index);
  await withFileLock(NETWORK_LOCK, async () => {
    await run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    await run('ip', 'route', 'replace', 'blackhole', TEST_NETWORK, 'metric', '9999');
    await run('ip', 'link', 'add', bridge, 'type', 'bridge');
    await run('ip', 'address', 'add', `${host}/24`, 'dev', bridge);
    await run('ip', 'link', 'set', bridge, 'up');
  });
}

/** Removes the bridge and with it all routes through it; the last bridge takes the blackhole route along. */
export async function removeBridge(index: number): Promise<void> {
  const { bridge } = clusterAddresses(index);
  await withFileLock(NETWORK_LOCK, async () => {
    const links = await readdir('/sys/class/net');
    for (const link of links) {
      if (link === bridge || link.startsWith(`${bridge}n`)) await tryCommand(['ip', 'link', 'delete', link]);
    }
    if (links.some((link) => /^atoll\d+$/.test(link) && link !== bridge)) return;
    await tryCommand(['ip', 'route', 'delete', 'blackhole', TEST_NETWORK, 'metric', '9999']);
  });
}

/** Connects a node's network namespace to the bridge, and the host to the node's pods. */
export async function connectNode(spec: ClusterSpec, node: number, initPid: number): Promise<void> {
  const { bridge, host } = clusterAddresses(spec.index);
  const { ip, pods, link } = nodeAddresses(spec.index, node);
  const namespace = `/proc/${initPid}/ns/net`;
  await tryCommand(['ip', 'link', 'delete', link]); // the kernel takes namespaces down later than their processes
  await run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  await run('ip', 'link', 'set', link, 'master', bridge, 'up');
  const others = Array.from({ length: spec.nodes }, (_, i) => i + 1).filter((other) => other !== node);
  const lines = [
    `address add ${ip}/24 dev eth0`,
    'link set eth0 up',
    `route add default via ${host}`,
    ...others.map((other) => nodeAddresses(spec.index, other)).map((a) => `route add ${a.pods} via ${a.ip}`),
  ];
  await runCommand(['nsenter', `--net=${namespace}`, 'ip', '-batch', '-'], {
    input: `${lines.join('\n')}\n`,
    timeoutMs: COMMAND_TIMEOUT_MS,
  });
  await run('ip', 'route', 'replace', pods, 'via', ip);
}

/** Lets the host reach services through this node's kube-proxy. */
export async function routeServicesThrough(spec: ClusterSpec, node: number): Promise<void> {
  const { services } = clusterAddresses(spec.index);
  await run('ip', 'route', 'replace', services, 'via', nodeAddresses(spec.index, node).ip);
}

async function run(...argv: string[]): Promise<string> {
  return runCommand(argv, { timeoutMs: COMMAND_TIMEOUT_MS });
}
