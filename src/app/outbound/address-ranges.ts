/** Decides to which IP addresses this program may connect on behalf of a setting or a subscription. */
import { BlockList, isIP } from 'node:net';

/** Ranges beside the public ones that OUTBOUND_ALLOW can open. */
const OUTBOUND_RANGES = ['loopback', 'private'] as const;
export type OutboundRange = (typeof OUTBOUND_RANGES)[number];

/** `forbidden` is never connected to: metadata services, link-local, multicast, documentation and unassigned ranges. */
type AddressRange = OutboundRange | 'public' | 'forbidden';

const METADATA = createBlockList(
  // Amazon, Google, Azure and Oracle use 169.254.169.254, which is link-local. These are the others.
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
);
const LOOPBACK = createBlockList(['127.0.0.0', 8], ['::1', 128]);
/** Private use (RFC 1918), carrier-grade NAT (RFC 6598) and unique-local addresses (RFC 4193). */
const PRIVATE = createBlockList(
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['fc00::', 7],
);
/** IPv4 ranges that are not global, from the registry of special-purpose addresses. */
const NOT_GLOBAL = createBlockList(
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Teredo and others of 2001::/23, documentation, and 6to4, which contains an IPv4 address.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
);
/** The only global range of IPv6. NAT64, link-local and site-local addresses are outside. */
const GLOBAL_IPV6 = createBlockList(['2000::', 3]);

/** Returns the range of an IP address, such as `private`. Returns `forbidden` for text that is not an IP address. */
export function classifyAddress(address: string): AddressRange {
  const plain = unmapAddress(address);
  const version = isIP(plain);
  if (version === 0) return 'forbidden';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (METADATA.check(plain, family)) return 'forbidden';
  if (LOOPBACK.check(plain, family)) return 'loopback';
  if (PRIVATE.check(plain, family)) return 'private';
  if (NOT_GLOBAL.check(plain, family)) return 'forbidden';
  return version === 4 || GLOBAL_IPV6.check(plain, family) ? 'public' : 'forbidden';
}

/** Parses OUTBOUND_ALLOW, a list of ranges separated by commas. Returns null if it contains an unknown range. */
export function parseOutboundRanges(text: string): readonly OutboundRange[] | null {
  const words = text.split(',').map(word => word.trim());
  const ranges = words.map(word => OUTBOUND_RANGES.find(range => range === word));
  const known = ranges.filter(range => range !== undefined);
  return known.length === words.length ? known : null;
}

/** Converts an IPv4-mapped IPv6 address to its IPv4 address. Returns other addresses unchanged. */
function unmapAddress(address: string): string {
  if (isIP(address) !== 6 || address.includes('%')) return address;
  const { hostname } = new URL(`http://[${address}]`);
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return address;
  const bytes = Buffer.from(high.padStart(4, '0') + low.padStart(4, '0'), 'hex');
  return bytes.join('.');
}

/** Creates a Node `BlockList` that contains the subnets. */
function createBlockList(...subnets: readonly (readonly [address: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets)
    list.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return list;
}
