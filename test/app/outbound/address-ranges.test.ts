import { expect, test } from 'vitest';
import { classifyAddress, parseOutboundRanges } from '../../../src/app/outbound/address-ranges.js';

test.each([
  ['public', ['1.1.1.1', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:1.1.1.1']],
  [
    'loopback',
    ['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:7f00:1'],
  ],
  [
    'private',
    [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      'fd12::1',
      'fc00::1',
      '::ffff:10.0.0.1',
    ],
  ],
  [
    'forbidden',
    [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '::ffff:a9fe:a9fe',
      'fd00:ec2::254',
      'fd20:ce::254',
      '100.100.100.200',
      '::ffff:100.100.100.200',
      '168.63.129.16',
      '0.0.0.0',
      '::',
      '255.255.255.255',
      '224.0.0.1',
      '198.18.0.1',
      '192.0.2.1',
      '203.0.113.9',
      'fe80::1',
      'fe80::1%eth0',
      'fec0::1',
      'ff02::1',
      // These contain 127.0.0.1: NAT64, 6to4, Teredo and the old IPv4-compatible form.
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '2001:0:7f00:1::',
      '::127.0.0.1',
      '2001:db8::1',
      '127.1',
      'localhost',
      '',
    ],
  ],
] as const)('T100 addresses are classified as %s', (range, addresses) => {
  expect(addresses.map(address => [address, classifyAddress(address)])).toEqual(
    addresses.map(address => [address, range]),
  );
});

test('OUTBOUND_ALLOW accepts loopback and private, and no other word', () => {
  expect(parseOutboundRanges('loopback')).toEqual(['loopback']);
  expect(parseOutboundRanges('private, loopback')).toEqual(['private', 'loopback']);
  for (const text of ['', 'public', 'loopback;private', '10.0.0.0/8', 'loopback,', 'Loopback'])
    expect(parseOutboundRanges(text)).toBeNull();
});
