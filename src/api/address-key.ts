/**
 * Returns the key of a client address in the rate limit: an IPv4 address as it is, or the first four groups of an IPv6 address, because
 * one client usually has all addresses of such a network. The address must be in the form in which Node reports addresses of sockets.
 */
export function toAddressKey(address: string): string {
  const isIpv6 = address.includes(':') && !address.startsWith('::ffff:');
  return isIpv6 ? expandGroups(address).slice(0, 4).join(':') : address;
}

/** Splits an IPv6 address into its eight groups. `::` stands for as many groups of zeros as are missing. */
function expandGroups(address: string): readonly string[] {
  const [before = [], after = []] = address
    .split('::')
    .map(part => part.split(':').filter(group => group !== ''));
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after];
}
