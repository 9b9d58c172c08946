import { describe, expect, test } from 'vitest';
import { createConsoleActions } from '../../src/app/console-actions.js';
import { getPageText, visitConsole } from '../support/console.js';
import { startInstalled } from '../support/program.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';

const ACTOR = 'dana@example.com';
const READER = 'lee@example.com';

/** Starts a program with a console in front of which a proxy signs visitors in. The reader may only read. */
async function startConsoleWithOrders({ allowsOrders = true } = {}) {
  const installed = await startInstalled({ context: { consoleActions: true } });
  const { program, organizationId, creditId } = installed;
  const { now } = program.time;
  const logged: unknown[] = [];
  const log = { info: (fields: unknown) => void logged.push(fields) };
  const visit = await visitConsole(() => program.engine.openReader(), {
    now,
    actions: createConsoleActions(() => program.engine.openInbox(now), log),
    allowsOrders,
    proxySignIn: ({ headers }) => {
      const name = String(headers['x-user']);
      return { name, mayAct: name !== READER };
    },
  });
  const origin = `http://127.0.0.1:${visit.port}`;

  const open = async (path: string, user = ACTOR): Promise<Response> =>
    await fetch(`${origin}${path}`, { headers: { 'x-user': user }, redirect: 'manual' });
  const post = async (form: URLSearchParams, { user = ACTOR, from = origin } = {}): Promise<Response> =>
    await fetch(`${origin}/orders`, {
      method: 'POST',
      headers: { 'x-user': user, origin: from },
      body: form,
      redirect: 'manual',
    });
  const openText = async (path: string, user = ACTOR) => getPageText(await (await open(path, user)).text());
  /** Opens the confirmation page of an order. */
  const openConfirmation = async (
    values: Readonly<Record<string, string>>,
    user = ACTOR,
  ): Promise<Response> => {
    const query = new URLSearchParams({ organization_id: organizationId, ...values });
    return await open(`/orders/new?${query.toString()}`, user);
  };
  /** Opens the confirmation page of an order, and returns its form as a browser would post it. */
  const prepare = async (values: Readonly<Record<string, string>>): Promise<URLSearchParams> =>
    readForm(await (await openConfirmation(values)).text());
  const reserve = { action: 'reserve', credit_id: creditId, amount: '2.5' };
  /** Places an order and waits until the worker is done. */
  const order = async (values: Readonly<Record<string, string>>): Promise<string> => {
    const answer = await post(await prepare(values));
    await program.rest();
    return answer.headers.get('location') ?? String(answer.status);
  };
  return {
    ...installed,
    logged,
    open,
    openText,
    openConfirmation,
    post,
    prepare,
    order,
    reserve,
    orders: async () => await program.rows('SELECT * FROM orders ORDER BY id'),
    reservations: () => program.registry.store.tables.reservations.list(),
    retirements: () => program.registry.store.tables.retirements.list(),
  };
}

/** Returns the fields of the form that places an order. */
function readForm(markup: string): URLSearchParams {
  const [, form = ''] = /<form class="act" method="post" action="\/orders">(.*?)<\/form>/s.exec(markup) ?? [];
  const fields = form.matchAll(/name="([^"]*)" value="([^"]*)"/g);
  return new URLSearchParams(Object.fromEntries([...fields].map(([, name, value]) => [name, value])));
}

describe('orders in the console', () => {
  test('a credit is reserved and retired, and the log and the list name the actor', async () => {
    const { order, openText, openConfirmation, orders, logged, reserve, ...stage } =
      await startConsoleWithOrders();
    const { creditId, organizationId, reservations, retirements, program } = stage;
    const page = await openText(`/warehouse/${encodeURIComponent(creditId)}`);
    expect(page).toContain('Tonnes, at most 100');
    // Live updates replace the elements with data-live, and would remove what a visitor types.
    const [, afterLive] = (
      await (await stage.open(`/warehouse/${encodeURIComponent(creditId)}`)).text()
    ).split('Timeline, newest first');
    expect(afterLive).toContain('name="amount"');
    expect(page).toContain(`carbon-mirror reservations create --organization ${organizationId} --credit-id`);
    const confirmation = getPageText(await (await openConfirmation(reserve)).text());
    for (const text of [
      'Reserve 2.5 t?',
      organizationId,
      `Credit${creditId}`,
      'Vintage2021',
      'ex-post',
      'Amount2.5 t',
    ])
      expect(confirmation).toContain(text);
    expect(await order(reserve)).toBe('/orders/1');
    expect(await openText('/orders/1')).toContain('Retire, transfer or release the reservation');
    const reservationId = reservations()[0]?.id ?? '';
    const retire = {
      action: 'retire',
      reservation_id: reservationId,
      beneficiary: 'Harbour Ferries',
      reason: 'Voluntary',
    };
    const question = getPageText(await (await openConfirmation(retire)).text());
    expect(question).toMatch(
      /Retire 2.5 t\? A retirement cannot be undone.*Time left\d+ min.*BeneficiaryHarbour Ferries/,
    );
    expect(await openText(`/reservations/${reservationId}`)).toContain('Retire …');
    expect(await order(retire)).toBe('/orders/2');
    const retired = await openText('/orders/2');
    expect(retired).toContain('The credits are retired.');
    expect(retired).not.toContain('Retire, transfer or release');
    expect(retirements()).toHaveLength(1);
    expect(await orders()).toMatchObject([
      { actor: ACTOR, action: 'reserve', state: 'done', reservation_id: reservationId },
      { actor: ACTOR, action: 'retire', state: 'done', beneficiary: 'Harbour Ferries' },
    ]);
    expect(logged).toMatchObject([
      { action: 'reserve', actor: ACTOR, order: 1, amount: '2.5' },
      { action: 'retire', actor: ACTOR, order: 2, reservationId },
    ]);
    expect(await openText('/orders')).toContain(ACTOR);
    expect(await (await stage.open('/orders.csv')).text()).toContain(ACTOR);
    // A reservation that has ended offers nothing.
    expect(await openText(`/reservations/${reservationId}`)).not.toContain('Retire …');
    expect((await openConfirmation(retire)).status).toBe(400);
    expect(program.registry.store.tables.transactions.list()).toHaveLength(1);
  });

  test('a reservation is transferred to an organization by its name, or released', async () => {
    const { order, openConfirmation, reserve, reservations, program } = await startConsoleWithOrders();
    const buyer = createOrganization(program.sandbox, 'Harbour Holdings');
    program.registry.installations.install(program.app.id, buyer.id);
    await program.rest();
    await order(reserve);
    await order({ ...reserve, amount: '7' });
    const [first, second] = reservations();
    const transfer = { action: 'transfer', reservation_id: first?.id ?? '', receiver: 'Harbour' };
    const question = getPageText(await (await openConfirmation(transfer)).text());
    expect(question).toContain(`ReceiverHarbour Holdings ${buyer.id}`);
    await order(transfer);
    await order({ action: 'release', reservation_id: second?.id ?? '' });
    expect(reservations().map(({ state }) => state)).toEqual(['finished', 'cancelled']);
  });

  test('a form that cannot be carried out is refused with what to do instead', async () => {
    const { openConfirmation, reserve, orders, order, reservations } = await startConsoleWithOrders();
    const readFault = async (values: Readonly<Record<string, string>>) => {
      const answer = await openConfirmation(values);
      expect(answer.status).toBe(400);
      return getPageText(await answer.text());
    };
    expect(await readFault({ ...reserve, amount: '2,5' })).toContain('“2,5” is not an amount: write 2.5.');
    expect(await readFault({ ...reserve, amount: '100.01' })).toContain('Only 100 t are available.');
    expect(await readFault({ ...reserve, credit_id: 'c-9' })).toContain('does not list this credit');
    expect(await readFault({ action: 'reserve', amount: '1' })).toContain('does not list this credit');
    expect(await readFault({ ...reserve, action: 'deposit' })).toContain('Expected an action');
    expect(await orders()).toEqual([]);
    await order(reserve);
    const end = { reservation_id: reservations()[0]?.id ?? '' };
    expect(await readFault({ ...end, action: 'retire', reason: 'x' })).toContain('Name the beneficiary');
    expect(await readFault({ ...end, action: 'retire', beneficiary: 'x' })).toContain('Give the reason');
    expect(await readFault({ ...end, action: 'transfer' })).toContain('Name the organization');
    expect(await readFault({ ...end, action: 'transfer', receiver: '../x' })).toContain(
      'There is no organization',
    );
    expect(await orders()).toHaveLength(1);
  });
});

describe('T110 an order', () => {
  test('that is posted several times and replayed is one order', async () => {
    const { post, prepare, reserve, orders, reservations, program } = await startConsoleWithOrders();
    const form = await prepare(reserve);
    const answers = await Promise.all(Array.from({ length: 5 }, async () => await post(form)));
    await program.rest();
    form.set('key', form.get('key')?.toUpperCase() ?? '');
    answers.push(await post(form));
    await program.rest();
    expect(answers.map(({ headers }) => headers.get('location'))).toEqual(Array(6).fill('/orders/1'));
    expect(await orders()).toHaveLength(1);
    expect(reservations()).toHaveLength(1);
  });

  test('that ends a reservation and is replayed is one order', async () => {
    const { post, prepare, order, reserve, orders, reservations, program } = await startConsoleWithOrders();
    await order(reserve);
    const form = await prepare({ action: 'release', reservation_id: reservations()[0]?.id ?? '' });
    for (let time = 0; time < 3; time += 1) {
      expect((await post(form)).headers.get('location')).toBe('/orders/2');
      await program.rest();
    }
    expect(await orders()).toHaveLength(2);
  });

  test.each([
    ['another amount', { amount: '25' }],
    ['another action', { action: 'retire' }],
    ['a beneficiary', { beneficiary: 'Mallory' }],
  ])('with a used key and %s is refused', async (_case, changes) => {
    const { post, prepare, reserve, orders } = await startConsoleWithOrders();
    const form = await prepare(reserve);
    expect((await post(form)).status).toBe(303);
    const forged = new URLSearchParams({ ...Object.fromEntries(form), ...changes });
    expect((await post(forged)).status).toBe(409);
    expect(await orders()).toMatchObject([{ amount_exact: '2.5', actor: ACTOR }]);
  });

  test('of another visitor is refused', async () => {
    const { post, prepare, openConfirmation, reserve, orders } = await startConsoleWithOrders();
    const form = await prepare(reserve);
    expect((await post(form, { user: 'eve@example.com' })).status).toBe(403);
    await post(form);
    const own = readForm(await (await openConfirmation(reserve, 'eve@example.com')).text());
    own.set('key', form.get('key') ?? '');
    expect((await post(own, { user: 'eve@example.com' })).status).toBe(409);
    expect(await orders()).toHaveLength(1);
  });

  test('of a visitor who may only read is refused, and no page offers it', async () => {
    const { open, openText, openConfirmation, post, prepare, reserve, orders, creditId } =
      await startConsoleWithOrders();
    const page = await openText(`/warehouse/${encodeURIComponent(creditId)}`, READER);
    expect(page).not.toContain('Tonnes, at most');
    expect((await openConfirmation(reserve, READER)).status).toBe(404);
    const form = await prepare(reserve);
    const markup = await (await open('/', READER)).text();
    form.set('page_token', /name="page_token" value="([^"]+)"/.exec(markup)?.[1] ?? '');
    const answer = await post(form, { user: READER });
    expect([answer.status, getPageText(await answer.text())]).toEqual([
      403,
      expect.stringContaining('not start work'),
    ]);
    expect(await orders()).toEqual([]);
  });

  test('without its token, without a key or from another website is refused', async () => {
    const { post, prepare, reserve, orders } = await startConsoleWithOrders();
    for (const [name, value, status] of [
      ['page_token', '', 403],
      ['key', '', 400],
      ['key', '../orders', 400],
      ['amount', '2,5', 400],
      ['organization_id', 'x', 400],
    ] as const) {
      const form = await prepare(reserve);
      form.set(name, value);
      expect((await post(form)).status, name).toBe(status);
    }
    expect((await post(await prepare(reserve), { from: 'http://evil.example' })).status).toBe(403);
    expect(await orders()).toEqual([]);
  });

  test('for the credit or the reservation of another organization is refused', async () => {
    const { post, prepare, openConfirmation, order, reserve, orders, reservations, program } =
      await startConsoleWithOrders();
    const other = createOrganization(program.sandbox).id;
    const foreignCredit = issueCredit(program.sandbox, other);
    program.registry.installations.install(program.app.id, other);
    await program.rest();
    await order(reserve);
    const foreign = [
      { ...reserve, credit_id: foreignCredit },
      { ...reserve, organization_id: other },
      { action: 'release', organization_id: other, reservation_id: reservations()[0]?.id ?? '' },
    ];
    for (const values of foreign) {
      expect((await openConfirmation(values)).status).toBe(400);
      const form = await prepare(reserve);
      for (const [name, value] of Object.entries(values)) form.set(name, value);
      expect((await post(form)).status).toBe(400);
    }
    expect(await orders()).toHaveLength(1);
  });

  test('is not found without CONSOLE_ACTIONS=on', async () => {
    const { open, openText, openConfirmation, post, reserve, orders, creditId } =
      await startConsoleWithOrders({
        allowsOrders: false,
      });
    const markup = await (await open('/')).text();
    const token = /name="page_token" value="([^"]+)"/.exec(markup)?.[1] ?? '';
    expect((await openConfirmation(reserve)).status).toBe(404);
    expect((await post(new URLSearchParams({ page_token: token, ...reserve }))).status).toBe(404);
    const page = await openText(`/warehouse/${encodeURIComponent(creditId)}`);
    expect(page).not.toContain('Tonnes, at most');
    expect(page).toContain('carbon-mirror reservations create');
    expect(await orders()).toEqual([]);
  });
});
