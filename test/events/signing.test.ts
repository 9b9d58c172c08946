import { randomBytes } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createEventsKey, parseEventsKey, readEventsKey } from '../../src/events/key-file.js';
import { createEventHeaders, deriveKeyCheck, deriveSecret } from '../../src/events/signing.js';
import { temporaryFolder } from '../support/folder.js';

const KEY = Buffer.alloc(32, 1);

test('the public package verifies each secret of two, and refuses any other text, id, time and secret', () => {
  const secrets = [deriveSecret(KEY, 'sub_1', 2), deriveSecret(KEY, 'sub_1', 1)];
  const body = '{"type":"retirement.created","data":"é"}';
  const at = Date.now();
  const headers = createEventHeaders({ id: 'abc_1', at, body }, secrets);
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  const [secret = ''] = secrets;
  const refused = [
    () => new Webhook(deriveSecret(KEY, 'sub_2', 1)).verify(body, headers),
    () => new Webhook(deriveSecret(KEY, 'sub_1', 3)).verify(body, headers),
    () => new Webhook(secret).verify(`${body} `, headers),
    () => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'abc_2' }),
    () =>
      new Webhook(secret).verify(body, createEventHeaders({ id: 'abc_1', at: at - 600_000, body }, secrets)),
  ];
  for (const verify of refused) expect(verify).toThrow();
});

test('T105 secrets depend on key, subscription and generation, and the check reveals neither', () => {
  const secret = deriveSecret(KEY, 'sub_1', 1);
  expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(deriveSecret(KEY, 'sub_1', 1)).toBe(secret);
  const others = [
    deriveSecret(Buffer.alloc(32, 2), 'sub_1', 1),
    deriveSecret(KEY, 'sub_11', 1),
    deriveSecret(KEY, 'sub_1', 11),
  ];
  expect(new Set([secret, ...others]).size).toBe(4);
  expect(deriveKeyCheck(KEY, 'sub_1')).toMatch(/^[0-9a-f]{16}$/);
  expect(deriveKeyCheck(KEY, 'sub_1')).not.toBe(deriveKeyCheck(Buffer.alloc(32, 2), 'sub_1'));
});

test('a key file is readable by its owner only, never overwritten, and no other text is accepted', () => {
  const file = join(temporaryFolder(), 'events.key');
  const key = createEventsKey(file, randomBytes);
  expect(readEventsKey(file)).toEqual(key);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(() => createEventsKey(file, randomBytes)).toThrow('EEXIST');
  for (const text of ['', 'whsec_abc', key.toString('base64'), 'carbon-mirror-events-key-1:abcd'])
    expect(() => parseEventsKey(text)).toThrow('expected a file that "carbon-mirror subscriptions add" made');
  writeFileSync(file, 'other');
  expect(() => readEventsKey(file)).toThrow('expected a file');
});
