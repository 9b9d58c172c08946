import pino from 'pino';
import { expect, test } from 'vitest';
import { startEventSending } from '../../src/app/events/sending.js';

test('an error of the thread that sends events keeps the name and code by which a command explains it', async () => {
  const url = 'postgres://postgres@127.0.0.1:1/nowhere';
  const store = { dataDir: '.', diskReserveMb: null, database: { url, queryUrl: null, pool: null } };
  const data = { store, keyFile: 'events.key', retentionDays: 1, outboundAllow: [] };
  const starting = startEventSending({ log: pino({ enabled: false }), now: Date.now }, data);
  await expect(starting).rejects.toMatchObject({ name: 'StoreError', code: 'away' });
});
