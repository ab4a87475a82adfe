/**
 * Which address a request comes from, where proxies stand in front of the hub: of the addresses that X-Forwarded-For names,
 * the last one that is not a trusted proxy. The header of anyone else is not read: a client could name a new address in each
 * request, and would be counted as many.
 */
import { BlockList, isIP } from 'node:net';

export interface Arrival {
  readonly remoteAddress: string | undefined;
  readonly forwardedFor: string | readonly string[] | undefined;
}

/** `networks`: addresses, or networks such as 10.0.0.0/8. */
export function trustProxies(networks: readonly string[]): BlockList {
  const trusted = new BlockList();
  for (const network of networks) {
    const [host = '', bits] = network.split('/');
    const family = isIP(host) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(host, family);
    else trusted.addSubnet(host, Number(bits), family);
  }
  return trusted;
}

export function clientAddressOf({ remoteAddress, forwardedFor }: Arrival, trusted: BlockList): string | undefined {
  const named = [forwardedFor ?? []].flat().flatMap((header) => header.split(','));
  let address = remoteAddress;
  while (address !== undefined && isTrusted(address, trusted)) {
    const before = named.pop()?.trim();
    if (before === undefined || isIP(before) === 0) return address;
    address = before;
  }
  return address;
}

/** An IPv4 address that came to a listener of both kinds begins with ::ffff: BlockList knows that. */
const isTrusted = (address: string, trusted: BlockList): boolean =>
  trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
