import { expect, test } from 'vitest';
import { isLoopbackHost, isLoopbackHostHeader, isLoopbackUrl } from '../../src/text/loopback.js';

test.each([
  ['localhost', true],
  ['LOCALHOST', true],
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['[::1]', true],
  ['::ffff:127.0.0.1', true],
  ['localhost.example', false],
  ['not-localhost', false],
  ['10.127.0.0.1', false],
  ['128.0.0.1', false],
  ['', false],
])('whether the host "%s" is this machine: %s', (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
});

test.each([
  ['localhost', true],
  ['localhost:8090', true],
  ['[::1]:8090', true],
  ['localhost:', false],
  ['localhost:8090.example', false],
  ['not-localhost:8090', false],
])('whether the Host header "%s" names this machine: %s', (header, expected) => {
  expect(isLoopbackHostHeader(header)).toBe(expected);
});

test.each([
  ['http://localhost:8090/v1', true],
  ['https://[::1]/', true],
  ['http://localhost.example/', false],
  ['ftp://localhost/', false],
  ['http://', false],
  ['see http://localhost/', false],
])('whether the URL "%s" points to this machine: %s', (url, expected) => {
  expect(isLoopbackUrl(url)).toBe(expected);
});
