/**
 * Whose connection a connection is, as far as its address tells: who shares a turn at admission. IPv4 by the whole
 * address. IPv6 by its first 64 bits, since one host is given that many addresses and would else be 2^64 sources.
 */
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** `address`: as Node tells it; absent once the peer has gone. */
export function sourceOf(address: string | undefined): string {
  if (!address) return 'unknown';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return address.includes(':') ? networkOf(address) : address;
}

function networkOf(address: string): string {
  const [before = '', after] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const [head, tail] = [groupsOf(before), groupsOf(after ?? '')];
  const missing = after === undefined ? 0 : Math.max(0, GROUPS - head.length - tail.length);
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...tail];
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** The last two may be written as IPv4. */
const groupsOf = (text: string): string[] =>
  text === '' ? [] : text.split(':').flatMap((group) => (group.includes('.') ? [group, group] : [trimZeros(group)]));

const trimZeros = (group: string): string => group.replace(/^0+(?=.)/, '');
