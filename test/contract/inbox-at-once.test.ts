import { describe, expect, test } from 'vitest';
import { MAX_ROWS_PER_MINUTE } from '../../src/inbox/rejection.js';
import { ENGINES } from '../support/mirror/open.js';
import { NOON } from '../support/inbox.js';

const PROCESSES = Array.from({ length: 8 }, (_, index) => index);
const TICK = { kind: 'tick', dedupeKey: 'tick', trigger: 'schedule' } as const;

describe.each(ENGINES)('$name', ({ store }) => {
  test('enqueueOnce creates one job when many processes call it at the same moment', async () => {
    const { db, openSecondConnection: beside } = await store();
    const inboxes = PROCESSES.map(() => beside().open(() => NOON));
    for (let round = 1; round <= 5; round += 1) {
      const job = { ...TICK, dedupeKey: `tick ${round}` };
      const ids = await Promise.all(inboxes.map(inbox => inbox.enqueueOnce(job)));
      expect(ids.filter(id => id !== null)).toHaveLength(1);
      expect(await db.value('SELECT count(*) FROM jobs')).toBe(round);
    }
  });

  test('concurrent counts of rejected webhooks lose none and respect the row limit of a minute', async () => {
    const { db, openSecondConnection: beside } = await store();
    const inboxes = PROCESSES.map(() => beside().open(() => NOON));
    const count = { reason: 'no_signature', status: 401, rejected: 3, newestMsAgo: 0 } as const;
    const prefixes = Array.from({ length: 20 }, (_, index) => `prefix ${index}`);
    await Promise.all(
      inboxes.map((inbox, index) =>
        inbox.countRejected(
          [...prefixes.map(prefix => `${prefix} of ${index}`), 'same'].map(headerPrefix => ({
            ...count,
            headerPrefix,
          })),
        ),
      ),
    );
    expect(await db.value('SELECT sum(rejected) FROM rejected_webhooks')).toBe(8 * 21 * 3);
    expect(await db.value('SELECT count(*) FROM rejected_webhooks')).toBe(MAX_ROWS_PER_MINUTE + 1);
  });
});
