/**
 * Which of the hub's public addresses a connection was made to. The agent signs the address it dialled, so a hub with
 * several takes the one that the Host header names; a header that names none of them gets the first, whose signature
 * such a peer will not give. The header alone is never trusted as an address.
 */
export function chooseAudience(addresses: readonly string[], host: string | undefined): string {
  const wanted = host?.toLowerCase();
  // Clients leave the port out where it is the scheme's own.
  const found = addresses.find((address) => [address, address.replace(/:443$/, '')].includes(wanted ?? ''));
  return found ?? addresses[0] ?? '';
}
