import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Fetch } from '../../src/client.js';
import type { NewOrder, Order } from '../../src/inbox/order.js';
import { startInstalled, type ProgramOptions } from '../support/program.js';
import { createOrganization, findUnbalancedCredits, issueCredit } from '../support/sandbox.js';
import { createOrder, createRetireOrder } from '../support/orders.js';
import { until } from '../support/wait.js';
import { startWorkProcess } from '../support/work-process.js';

const RESERVATIONS = '/organizations/*/warehouse/inventory/reservations';
const LEASE_MS = 61_000;

/** Starts a program whose worker carries out orders, and which does not wait between look-ups. */
async function startOrdering(options: ProgramOptions = {}) {
  const writes: unknown[] = [];
  const fetchAndCount: Fetch = async (url, init) => {
    if (init.method !== 'GET' && String(url).includes('/reservations')) writes.push(url);
    return await fetch(url, init);
  };
  const installed = await startInstalled({
    context: { consoleActions: true },
    http: { sleep: async () => undefined, fetch: fetchAndCount },
    worker: { graceMs: 10 },
    ...options,
  });
  const { program, organizationId, creditId } = installed;

  const read = async (key: string): Promise<Order> => {
    const order = await program.inbox.readOrder(key);
    if (order === null) throw new Error('the order is not stored');
    return order;
  };
  const place = async (values: Partial<NewOrder> = {}): Promise<string> => {
    const order = await program.inbox.placeOrder(createOrder({ organizationId, creditId, ...values }));
    return order.key;
  };
  return {
    ...installed,
    place,
    read,
    readResult: async (key: string) => {
      const [row] = await program.rows<{ result: string }>('SELECT result FROM orders WHERE key = ?', key);
      return row?.result;
    },
    /** Places an order and waits until its worker is done. */
    run: async (values: Partial<NewOrder> = {}): Promise<Order> => {
      const key = await place(values);
      await program.rest();
      return await read(key);
    },
    reservations: () => program.registry.store.tables.reservations.list(),
    retirements: () => program.registry.store.tables.retirements.list(),
    /** Counts the calls that write, sent by workers of this process. */
    countWrites: () => writes.length,
    waitForSending: async (key: string) =>
      await until(async () => (await read(key)).state === 'sending', 'an order on its way'),
  };
}

describe('an order', () => {
  test('reserves, and another one retires, transfers or releases the reservation', async () => {
    const { run, program, reservations, retirements, organizationId, countWrites } = await startOrdering();
    const reserved = await run();
    expect(reserved).toMatchObject({ state: 'done', reservationId: reservations()[0]?.id });
    const { reservationId } = reserved;
    const target = { organizationId, creditId: reserved.creditId };
    expect(await run(createRetireOrder(reservationId ?? '', target))).toMatchObject({ state: 'done' });
    expect(retirements()).toMatchObject([{ amountMicro: 2_500_000 }]);
    const released = await run();
    const release = { action: 'release', reservationId: released.reservationId } as const;
    expect(await run({ ...release, ...target })).toMatchObject({ state: 'done' });
    const moved = await run();
    const receiverId = createOrganization(program.sandbox).id;
    const transfer = { action: 'transfer', reservationId: moved.reservationId, receiverId } as const;
    expect(await run({ ...transfer, ...target })).toMatchObject({ state: 'done' });
    expect(reservations().map(({ state }) => state)).toEqual(['finished', 'cancelled', 'finished']);
    expect(countWrites()).toBe(6);
    expect(findUnbalancedCredits(program.sandbox)).toEqual([]);
    // The mirror has read the results.
    const read = await program.rows('SELECT beneficiary, amount_exact FROM retirements');
    expect(read).toEqual([{ beneficiary: 'Harbour Ferries', amount_exact: '2.5' }]);
  });

  test('says how much is left if it asks for too much', async () => {
    const { run, readResult, reservations } = await startOrdering();
    await run({ amount: '84.45' });
    const refused = await run({ amount: '15.56' });
    expect(refused.state).toBe('refused');
    expect(await readResult(refused.key)).toBe(
      'Only 15.55 t are available, and 15.56 t were ordered. Nothing was done.',
    );
    expect(reservations()).toHaveLength(1);
  });

  test('T111 is refused by a worker without CONSOLE_ACTIONS=on', async () => {
    const { run, readResult, countWrites } = await startOrdering({ context: { consoleActions: false } });
    const refused = await run();
    expect([refused.state, countWrites()]).toEqual(['refused', 0]);
    expect(await readResult(refused.key)).toContain('CONSOLE_ACTIONS=on');
  });

  test('T110 for the credit or the organization of somebody else is refused', async () => {
    const { run, program, reservations } = await startOrdering();
    const foreign = createOrganization(program.sandbox).id;
    const foreignCredit = issueCredit(program.sandbox, foreign);
    expect(await run({ creditId: foreignCredit })).toMatchObject({ state: 'refused' });
    expect(await run({ organizationId: foreign, creditId: foreignCredit })).toMatchObject({
      state: 'refused',
    });
    expect(await run({ organizationId: '../apps', creditId: foreignCredit })).toMatchObject({
      state: 'refused',
    });
    expect(reservations()).toEqual([]);
  });

  test('is refused, and not repeated, if the registry does not carry it out', async () => {
    const { run, readResult, program, countWrites } = await startOrdering();
    program.registry.faults.add({
      method: 'POST',
      path: RESERVATIONS,
      kind: 'status',
      options: { status: 429 },
      count: 1,
    });
    const refused = await run();
    expect(refused.state).toBe('refused');
    expect(await readResult(refused.key)).toContain('The registry could not be reached');
    await program.reconcile();
    expect(countWrites()).toBe(1);
  });
});

describe('T112 a lost answer', () => {
  test('is looked up', async () => {
    const { run, program, reservations, countWrites } = await startOrdering();
    program.registry.faults.add({
      method: 'POST',
      path: RESERVATIONS,
      kind: 'cut',
      options: { bytes: 10 },
      count: 1,
    });
    expect(await run()).toMatchObject({ state: 'done', reservationId: reservations()[0]?.id });
    expect(countWrites()).toBe(1);
  });

  test('to a call that was not carried out ends as unknown, and is not sent again', async () => {
    const { run, readResult, program, reservations, countWrites } = await startOrdering();
    program.registry.faults.add({ method: 'POST', path: RESERVATIONS, kind: 'hangup', count: 1 });
    const order = await run();
    expect(order.state).toBe('unknown');
    expect(await readResult(order.key)).toBe(
      'The answer was lost, and no result was found. Look at the registry. Nothing was sent again.',
    );
    await program.reconcile();
    expect([reservations().length, countWrites()]).toEqual([0, 1]);
  });
});

describe('T112 a worker that is killed between an order and its answer', () => {
  test('by kill -9 leaves an order that is done once', async () => {
    const { place, read, program, reservations, countWrites } = await startOrdering();
    await program.kill();
    program.registry.faults.add({
      method: 'POST',
      path: RESERVATIONS,
      kind: 'delay',
      options: { delayMs: 30_000 },
      count: 1,
    });
    const { MIRROR_DATABASE_URL: url } = Object.assign({ MIRROR_DATABASE_URL: '' }, program.env);
    const work = startWorkProcess({
      url: program.sandbox.url,
      app: program.app,
      dataDir: program.folder,
      env: { CONSOLE_ACTIONS: 'on', MIRROR_DATABASE_URL: url },
    });
    const key = await place();
    await until(() => reservations().length === 1, 'a reservation');
    await work.kill();
    expect(await read(key)).toMatchObject({ state: 'sending', reservationId: null });
    program.time.move(LEASE_MS);
    await program.startWorker();
    await program.rest();
    expect(await read(key)).toMatchObject({ state: 'done', reservationId: reservations()[0]?.id });
    expect([reservations().length, countWrites()]).toEqual([1, 0]);
  });

  test.each(['reserve', 'retire'] as const)('leaves an order to %s that is done once', async kind => {
    const ordering = await startOrdering();
    const { place, run, read, program, waitForSending, reservations, retirements } = ordering;
    const reserved = kind === 'retire' ? (await run()).reservationId : null;
    const path = kind === 'retire' ? `${RESERVATIONS}/*/retire` : RESERVATIONS;
    program.registry.faults.add({
      method: 'POST',
      path,
      kind: 'delay',
      options: { delayMs: 30_000 },
      count: 1,
    });
    const target = { organizationId: ordering.organizationId, creditId: ordering.creditId };
    const key = await place(reserved === null ? {} : createRetireOrder(reserved, target));
    await waitForSending(key);
    const results = kind === 'retire' ? retirements : reservations;
    await until(() => results().length === 1, 'a result at the registry');
    const writes = ordering.countWrites();
    await program.kill();
    program.time.move(LEASE_MS);
    await program.startWorker();
    await program.rest();
    expect(await read(key)).toMatchObject({ state: 'done', reservationId: reservations()[0]?.id });
    expect([results().length, ordering.countWrites()]).toEqual([1, writes]);
  });

  test.each(['reserve', 'retire'] as const)(
    'before the order to %s arrived leaves an unknown order',
    async kind => {
      const ordering = await startOrdering();
      const { place, run, read, readResult, program, waitForSending, reservations, retirements } = ordering;
      const reserved = kind === 'retire' ? (await run()).reservationId : null;
      program.registry.faults.add({ method: 'POST', path: `${RESERVATIONS}**`, kind: 'silence', count: 1 });
      const target = { organizationId: ordering.organizationId, creditId: ordering.creditId };
      const key = await place(reserved === null ? {} : createRetireOrder(reserved, target));
      await waitForSending(key);
      await delay(50);
      await program.kill();
      const writes = ordering.countWrites();
      program.time.move(LEASE_MS);
      await program.startWorker();
      await program.rest();
      await program.reconcile();
      expect((await read(key)).state).toBe('unknown');
      expect(await readResult(key)).toContain('Look at the registry. Nothing was sent again.');
      expect(retirements()).toEqual([]);
      expect([reservations().length, ordering.countWrites()]).toEqual([reserved === null ? 0 : 1, writes]);
    },
  );

  test('does not take the reservation of another order for its own', async () => {
    const ordering = await startOrdering();
    const { place, run, read, program, waitForSending, reservations } = ordering;
    const earlier = await run();
    program.registry.faults.add({ method: 'POST', path: RESERVATIONS, kind: 'silence', count: 1 });
    const lost = await place();
    await waitForSending(lost);
    await program.kill();
    // Both orders were sent in the same second.
    const [reserved] = reservations();
    await program.change('UPDATE orders SET sent_at = ? WHERE key = ?', reserved?.createdAt ?? '', lost);
    program.time.move(LEASE_MS);
    await program.startWorker();
    // This order waits for the look-up, because its reservation could not be told apart.
    const later = await run();
    expect(await read(lost)).toMatchObject({ state: 'unknown', reservationId: null });
    expect(await read(earlier.key)).toMatchObject({ state: 'done', reservationId: reserved?.id });
    expect(later).toMatchObject({ state: 'done', reservationId: reservations()[1]?.id });
    expect(reservations()).toHaveLength(2);
  });
});
