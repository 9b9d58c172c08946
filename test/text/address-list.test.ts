import { expect, test } from 'vitest';
import { createAddressCheck, createAddressList } from '../../src/text/address-list.js';

test.each([
  ['10.1.0.7', true],
  ['10.1.0.8', false],
  ['10.2.255.255', true],
  ['10.3.0.0', false],
  ['fd00::7', true],
  ['fe00::7', false],
  ['2001:db8::1', true],
  ['2001:db8::2', false],
])('whether %s is in a list of addresses and ranges: %s', (address, isListed) => {
  const isInList = createAddressCheck(['10.1.0.7', '10.2.0.0/16', 'fd00::/8', '2001:db8::1']);
  expect(isInList(address)).toBe(isListed);
});

test.each([
  '',
  '10.1.0',
  'host.example',
  '10.1.0.0/',
  '10.1.0.0/33',
  '10.1.0.0/8x',
  '10.1.0.0/8e0',
  '10.1.0.0/8/8',
  'fd00::/129',
])('"%s" is refused as address and as range', range => expect(() => createAddressList([range])).toThrow());
