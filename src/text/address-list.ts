import { BlockList, isIPv6 } from 'node:net';

/** Creates a function that tells whether an IP address is in a list of addresses and ranges, such as 10.1.0.7 and fd00::/8. */
export function createAddressCheck(ranges: readonly string[]): (address: string) => boolean {
  const list = createAddressList(ranges);
  return address => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Parses a list of IP addresses and ranges, such as 10.1.0.7 and fd00::/8. Throws if a text is neither address nor range. */
export function createAddressList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix, ...rest] = range.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix)))
      throw new RangeError(`"${range}" is no address range`);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
