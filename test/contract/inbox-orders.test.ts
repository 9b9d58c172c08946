import { describe, expect, test } from 'vitest';
import { eraseMatchingOrderTexts } from '../../src/inbox/erase-texts.js';
import { ERASED_TEXT, isSameOrder } from '../../src/inbox/order.js';
import { createTestInbox, getOnly, NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';
import { createOrder, createRetireOrder } from '../support/orders.js';

const SENT_AT = new Date(NOON + 1000).toISOString();
const TEN_MINUTES_MS = 600_000;

describe.each(ENGINES)('$name', ({ store }) => {
  test('T75 a purge removes the orders of its organization, and erases the texts of one that is being sent', async () => {
    const box = createTestInbox(await store());
    const [kept, ended, sent] = [
      createOrder({ organizationId: 'organization-2' }),
      createOrder(),
      createRetireOrder('r-1', { creditId: 'another', comment: 'for Dana' }),
    ];
    for (const order of [kept, ended, sent]) await box.at(NOON).placeOrder(order);
    await box.at(NOON).finishOrder(ended.key, { state: 'refused', result: 'Too late.' });
    await box.at(NOON).startOrder(sent.key, SENT_AT);
    expect(await box.at(NOON).removeOrders(sent.organizationId)).toBe(2);
    const left = await box.db.rows('SELECT key, actor FROM orders ORDER BY id');
    expect(left).toEqual([
      { key: kept.key, actor: 'dana@example.com' },
      { key: sent.key, actor: ERASED_TEXT },
    ]);
    expect(await box.at(NOON).readOrder(sent.key)).toMatchObject({
      state: 'sending',
      reservationId: 'r-1',
      creditId: 'another',
      amount: '2.5',
      beneficiary: ERASED_TEXT,
      reason: ERASED_TEXT,
      comment: ERASED_TEXT,
    });
    await box.at(NOON).finishOrder(sent.key, { state: 'done', result: 'Done.' });
    expect(await box.at(NOON).removeOrders(sent.organizationId)).toBe(1);
  });

  test('T75 erasing texts changes only those that match, and no order that waits to be sent', async () => {
    const box = createTestInbox(await store());
    const ended = createRetireOrder('r-1', { comment: 'Ask DANA@example.com' });
    const [waiting, other] = [createOrder(), createOrder({ actor: null })];
    for (const order of [ended, waiting, other]) await box.at(NOON).placeOrder(order);
    await box.at(NOON).startOrder(ended.key, SENT_AT);
    await box.at(NOON).finishOrder(ended.key, { state: 'done', result: 'Retired.' });
    const matches = (text: string) => text.toLowerCase().includes('dana@');
    expect(await eraseMatchingOrderTexts(box.at(NOON), matches)).toEqual({ erased: 1, waiting: 1 });
    const rows = await box.db.rows(
      'SELECT actor, beneficiary, reason, comment, result FROM orders ORDER BY id',
    );
    const empty = { beneficiary: null, reason: null, comment: null, result: null };
    expect(rows).toEqual([
      {
        actor: ERASED_TEXT,
        beneficiary: ended.beneficiary,
        reason: ended.reason,
        comment: ERASED_TEXT,
        result: 'Retired.',
      },
      { actor: 'dana@example.com', ...empty },
      { actor: null, ...empty },
    ]);
    await box.at(NOON).finishOrder(waiting.key, { state: 'refused', result: 'Too late.' });
    expect(await eraseMatchingOrderTexts(box.at(NOON), matches)).toEqual({ erased: 1, waiting: 0 });
  });

  describe('T110 placing an order', () => {
    test('stores it together with one job, which names no organization', async () => {
      const box = createTestInbox(await store());
      const order = createOrder();
      expect(await box.at(NOON).placeOrder(order)).toEqual({
        ...order,
        id: 1,
        state: 'waiting',
        sentAt: null,
      });
      expect(await box.at(NOON).readOrder(order.key)).toEqual({
        ...order,
        id: 1,
        state: 'waiting',
        sentAt: null,
      });
      expect(getOnly(await box.jobs())).toMatchObject({
        kind: 'order',
        state: 'waiting',
        trigger: 'person',
        priority: 1,
        organization_id: null,
        payload: JSON.stringify({ order: order.key }),
      });
    });

    test('a post with the same key is one order and one job, even at the same time and after the end', async () => {
      const inbox = await store();
      const [box, second] = [createTestInbox(inbox), createTestInbox(inbox.openSecondConnection())];
      const order = createOrder();
      const placed = await Promise.all(
        [box, second, box, second].map(each => each.at(NOON).placeOrder(order)),
      );
      expect(placed.map(({ id }) => id)).toEqual([1, 1, 1, 1]);
      await box.at(NOON).startOrder(order.key, SENT_AT);
      await box.at(NOON).finishOrder(order.key, { state: 'done', result: 'Reserved.', reservationId: 'r-1' });
      const held = getOnly(await box.claim({ now: NOON, leaseMs: 60_000, slots: 4 }));
      await box.finish(held, 'done', NOON);
      const replayed = await second.at(NOON + 1).placeOrder(order);
      expect(replayed).toMatchObject({ id: 1, state: 'done', reservationId: 'r-1' });
      expect(await box.jobs()).toHaveLength(1);
      expect(await box.db.rows('SELECT id FROM orders')).toHaveLength(1);
    });

    test('a post with the same key and other content changes nothing', async () => {
      const box = createTestInbox(await store());
      const order = createOrder();
      await box.at(NOON).placeOrder(order);
      const forged = { ...order, amount: '2500', actor: 'lee@example.com' };
      const stored = await box.at(NOON).placeOrder(forged);
      expect(stored).toMatchObject({ amount: '2.5', actor: 'dana@example.com' });
      expect([isSameOrder(stored, order), isSameOrder(stored, forged)]).toEqual([true, false]);
    });
  });

  describe('T112 starting an order', () => {
    test('one of several callers starts it', async () => {
      const inbox = await store();
      const [box, second] = [createTestInbox(inbox), createTestInbox(inbox.openSecondConnection())];
      const { key } = await box.at(NOON).placeOrder(createOrder());
      const starts = await Promise.all(
        [box, second, box].map(each => each.at(NOON).startOrder(key, SENT_AT)),
      );
      expect(starts.toSorted()).toEqual(['started', 'started before', 'started before']);
      expect(await box.at(NOON).readOrder(key)).toMatchObject({ state: 'sending', sentAt: SENT_AT });
    });

    test('it waits while an order is sent whose result could be taken for its own', async () => {
      const box = createTestInbox(await store());
      const inbox = box.at(NOON);
      const place = async (order: ReturnType<typeof createOrder>) => (await inbox.placeOrder(order)).key;
      const first = await place(createOrder());
      const same = await place(createOrder({ amount: '7' }));
      const retire = await place(createRetireOrder('r-1'));
      const release = await place(createRetireOrder('r-1', { action: 'release' }));
      const otherCredit = await place(createOrder({ creditId: 'c-2' }));
      const otherOrganization = await place(createOrder({ organizationId: 'organization-2' }));
      const otherReservation = await place(createRetireOrder('r-2'));
      const start = async (key: string) => await inbox.startOrder(key, SENT_AT);
      expect(await start(first)).toBe('started');
      expect(await start(same)).toBe('busy');
      expect(await start(retire)).toBe('started');
      expect(await start(release)).toBe('busy');
      for (const key of [otherCredit, otherOrganization, otherReservation])
        expect(await start(key)).toBe('started');
      await inbox.finishOrder(first, { state: 'unknown', result: 'The answer was lost.' });
      await inbox.finishOrder(retire, { state: 'done', result: 'Retired.' });
      expect([await start(same), await start(release)]).toEqual(['started', 'started']);
    });

    test('it is refused after ten minutes', async () => {
      const box = createTestInbox(await store());
      const { key } = await box.at(NOON).placeOrder(createOrder());
      const { key: inTime } = await box.at(NOON).placeOrder(createOrder({ creditId: 'c-2' }));
      expect(await box.at(NOON + TEN_MINUTES_MS).startOrder(inTime, SENT_AT)).toBe('started');
      expect(await box.at(NOON + TEN_MINUTES_MS + 1).startOrder(key, SENT_AT)).toBe('expired');
      expect(await box.at(NOON).readOrder(key)).toMatchObject({ state: 'refused', sentAt: null });
    });
  });

  describe('T112 the end of an order', () => {
    test('is final, but a certain result replaces an unknown one', async () => {
      const box = createTestInbox(await store());
      const inbox = box.at(NOON);
      const { key } = await inbox.placeOrder(createOrder());
      await inbox.startOrder(key, SENT_AT);
      expect(await inbox.finishOrder(key, { state: 'unknown', result: 'The answer was lost.' })).toBe(true);
      expect(await inbox.finishOrder(key, { state: 'refused', result: 'Refused.' })).toBe(false);
      const done = { state: 'done', result: 'Reserved.', reservationId: 'r-1' } as const;
      expect(await inbox.finishOrder(key, done)).toBe(true);
      expect(await inbox.finishOrder(key, { state: 'unknown', result: '' })).toBe(false);
      expect(await inbox.finishOrder(key, { ...done, reservationId: 'r-2' })).toBe(false);
      expect(await inbox.readOrder(key)).toMatchObject({ state: 'done', reservationId: 'r-1' });
    });

    test('other orders for the credit know its reservation', async () => {
      const box = createTestInbox(await store());
      const inbox = box.at(NOON);
      const [order, another] = [createOrder(), createOrder()];
      await inbox.placeOrder(order);
      await inbox.startOrder(order.key, SENT_AT);
      await inbox.finishOrder(order.key, { state: 'done', result: 'Reserved.', reservationId: 'r-1' });
      expect(await inbox.listOrderedReservations(another)).toEqual(['r-1']);
      expect(await inbox.listOrderedReservations(order)).toEqual([]);
      expect(await inbox.listOrderedReservations({ ...another, creditId: 'c-2' })).toEqual([]);
    });
  });

  test('T111 the database refuses orders for other actions', async () => {
    const box = createTestInbox(await store());
    const deposit = box.db.change(
      "INSERT INTO orders (key, action, organization_id, credit_id, amount_exact, created_at) VALUES ('k', 'deposit', 'o', 'c', '1', ?)",
      SENT_AT,
    );
    await expect(deposit).rejects.toThrow(/CHECK|check/);
    await expect(
      box.at(NOON).placeOrder(createOrder({ action: 'transfer', reservationId: 'r' })),
    ).rejects.toThrow();
    await expect(box.at(NOON).placeOrder(createOrder({ action: 'release' }))).rejects.toThrow();
    expect(await box.jobs()).toEqual([]);
  });
});
