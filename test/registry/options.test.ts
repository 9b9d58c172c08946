import { createPublicKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { createClient } from '../../src/client.js';
import { createPrivateKey } from '../support/sandbox.js';

const KEY = createPrivateKey();
const OPTIONS = {
  baseUrl: 'http://127.0.0.1:9',
  appId: 'a1',
  privateKey: KEY,
};

/** Creates a client without type checks, as a JavaScript program does. */
function createWith(options: object): unknown {
  const call: Function = createClient;
  return Reflect.apply(call, undefined, [options]);
}

test.each([
  ['appId', undefined, 'appId: expected the id of the app'],
  ['appId', '', 'appId: expected the id of the app'],
  ['privateKey', undefined, 'privateKey: expected PEM text'],
  ['privateKey', createPublicKey(KEY), 'privateKey: expected PEM text'],
  ['now', 4, 'now: expected a function'],
  ['fetch', 'x', 'fetch: expected a function'],
  ['random', 4, 'random: expected a function'],
])('createClient refuses an unusable %s and states what it expects: %s', (name, value, expectation) => {
  expect(() => createWith({ ...OPTIONS, [name]: value })).toThrow(
    expect.objectContaining({ code: 'bad_request', message: expect.stringContaining(expectation) }),
  );
});

test('a client needs only a base URL, an app id and a private key', () => {
  expect(createWith(OPTIONS)).toMatchObject({ http: expect.anything() });
});
