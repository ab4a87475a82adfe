import { BlockList } from 'node:net';
import { describe, expect, it } from 'vitest';
import { clusterAddresses, HIGHEST_INDEX, MOST_NODES, nodeAddresses, TEST_NETWORK } from './addresses.ts';

const indexes = Array.from({ length: HIGHEST_INDEX }, (_, i) => i + 1);
const nodes = Array.from({ length: MOST_NODES }, (_, i) => i + 1);

function subnetsOf(index: number): string[] {
  const { host, services } = clusterAddresses(index);
  return [`${host.replace(/1$/, '0')}/24`, services, ...nodes.map((node) => nodeAddresses(index, node).pods)];
}

describe('addresses of clusters', () => {
  it('give no two clusters, nodes or services the same subnet', () => {
    const all = indexes.flatMap(subnetsOf);
    expect(new Set(all).size).toBe(all.length);
  });

  it('all lie in the network that is reserved for tests', () => {
    const [network = '', prefix] = TEST_NETWORK.split('/');
    const reserved = new BlockList();
    reserved.addSubnet(network, Number(prefix));
    for (const subnet of indexes.flatMap(subnetsOf)) {
      expect(subnet).toMatch(/^198\.1[89]\.\d+\.0\/24$/);
      const address = subnet.replace('/24', '');
      expect(Number(address.split('.')[2])).toBeLessThan(256);
      expect(reserved.check(address)).toBe(true);
    }
  });

  it('put a node on the subnet of its own bridge, beside the host', () => {
    expect(nodeAddresses(3, 2).ip).toBe('198.18.3.12');
    expect(clusterAddresses(3).host).toBe('198.18.3.1');
  });

  it('name interfaces within the 15 characters that Linux allows, each once', () => {
    const links = indexes.flatMap((index) => [
      clusterAddresses(index).bridge,
      ...nodes.map((node) => nodeAddresses(index, node).link),
    ]);
    expect(new Set(links).size).toBe(links.length);
    for (const link of links) expect(link.length).toBeLessThanOrEqual(15);
  });
});
