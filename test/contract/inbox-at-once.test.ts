import { describe, expect, test } from 'vitest';
import { MAX_ROWS_PER_MINUTE } from '../../src/inbox/rejected.js';
import { ENGINES } from '../support/mirror/open.js';
import { NOON } from '../support/inbox.js';

const PROCESSES = Array.from({ length: 8 }, (_, index) => index);
const TICK = { kind: 'tick', dedupeKey: 'tick', trigger: 'schedule' } as const;

describe.each(ENGINES)('$name', ({ store }) => {
  test('of many who ask once for the same job at the same moment one is given it', async () => {
    const { db, beside } = await store();
    const inboxes = PROCESSES.map(() => beside().open(() => NOON));
    for (let round = 1; round <= 5; round += 1) {
      const wish = { ...TICK, dedupeKey: `tick ${round}` };
      const ids = await Promise.all(inboxes.map(inbox => inbox.enqueueOnce(wish)));
      expect(ids.filter(id => id !== null)).toHaveLength(1);
      expect(await db.value('SELECT count(*) FROM jobs')).toBe(round);
    }
  });

  test('many receivers that count rejected webhooks at the same moment lose none, and keep a minute within its bound', async () => {
    const { db, beside } = await store();
    const inboxes = PROCESSES.map(() => beside().open(() => NOON));
    const counted = { reason: 'no_signature', status: 401, rejected: 3, newestMsAgo: 0 } as const;
    const prefixes = Array.from({ length: 20 }, (_, index) => `prefix ${index}`);
    await Promise.all(
      inboxes.map((inbox, place) =>
        inbox.countRejected(
          [...prefixes.map(each => `${each} of ${place}`), 'same'].map(headerPrefix => ({
            ...counted,
            headerPrefix,
          })),
        ),
      ),
    );
    expect(await db.value('SELECT sum(rejected) FROM rejected_webhooks')).toBe(8 * 21 * 3);
    expect(await db.value('SELECT count(*) FROM rejected_webhooks')).toBe(MAX_ROWS_PER_MINUTE + 1);
  });
});
