import { expect, test } from 'vitest';
import { readActivity } from '../../src/query/inbox/activity.js';
import { describeActor, findTroubles } from '../../src/query/inbox/troubles.js';
import { openFilledMirror, writeInstallation } from '../support/mirror/open.js';
import { createOrder } from '../support/orders.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

const DAY = 86_400_000;

async function readTrouble({ reader, clock }: Filled, check: string) {
  const activity = await readActivity(reader, clock.at);
  return { activity, trouble: findTroubles(activity, clock.at).find(trouble => trouble.check === check) };
}

test('a suspended organization is reported with its tonnes, for how long, and who can act', async () => {
  const filled = await openFilledMirror({ organizations: 3 });
  expect(await readTrouble(filled, 'suspensions')).toMatchObject({ activity: { suspensions: null } });
  await writeInstallation(filled, 3, { state: 'suspended', claim: 2 });
  await writeInstallation(filled, 3, { claim: 3 });
  filled.clock.at += DAY;
  const since = new Date(filled.clock.at).toISOString();
  await writeInstallation(filled, 3, { state: 'suspended', claim: 4 });
  filled.clock.at += 3 * DAY;
  const { activity, trouble } = await readTrouble(filled, 'suspensions');
  expect(activity.suspensions).toEqual({
    organizations: 1,
    firstId: 'organization-3',
    firstName: 'Organization 3',
    since,
    amounts: [{ type: 'exPost', amountMicro: 300_000_000n }],
    rowsWithoutAmount: 0,
  });
  expect(trouble).toMatchObject({
    isFault: false,
    isSevere: false,
    actor: 'administrator',
    found: 'The app is suspended by Organization 3: 300 t ex-post off sale for 3 d',
    href: '/organizations/organization-3',
  });
  expect(trouble && describeActor(trouble)).toBe('Who can act: an administrator of the organization.');
});

test('several suspended organizations are one issue with the sum of their tonnes', async () => {
  const filled = await openFilledMirror({ organizations: 3 });
  await writeInstallation(filled, 1, { state: 'suspended', claim: 2 });
  filled.clock.at += DAY;
  await writeInstallation(filled, 3, { state: 'suspended', claim: 2 });
  filled.clock.at += DAY;
  const { activity, trouble } = await readTrouble(filled, 'suspensions');
  expect(activity.suspensions).toMatchObject({ organizations: 2, firstId: 'organization-1' });
  expect(trouble?.found).toBe(
    'The app is suspended by 2 organizations: 400 t ex-post off sale, the first for 2 d',
  );
});

test('T110 an order whose answer was lost is reported for seven days, with what to do', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { inbox, clock } = filled;
  const sentAt = new Date(clock.at).toISOString();
  const [lost, done, other] = [
    createOrder(),
    createOrder({ creditId: 'c-2' }),
    createOrder({ creditId: 'c-3' }),
  ];
  for (const order of [lost, done, other]) {
    await inbox.placeOrder(order);
    await inbox.startOrder(order.key, sentAt);
  }
  await inbox.finishOrder(lost.key, { state: 'unknown', result: 'The answer was lost.' });
  await inbox.finishOrder(done.key, { state: 'done', result: 'Done.' });
  const since = new Date(clock.at).toISOString();
  clock.at += 2 * DAY;
  const { activity, trouble } = await readTrouble(filled, 'orders');
  expect(activity.unknownOrders).toEqual({ orders: 1, firstId: 1, since });
  expect(trouble).toMatchObject({
    isSevere: true,
    actor: 'operator',
    found: "The result of order 1 is unknown for 2 d: the registry's answer was lost",
    todo: expect.stringContaining('reservations and retirements at the registry'),
    href: '/orders/1',
    command: 'carbon-mirror orders show 1',
  });
  await inbox.finishOrder(other.key, { state: 'unknown', result: 'The answer was lost.' });
  expect((await readTrouble(filled, 'orders')).trouble).toMatchObject({
    found: "The results of 2 orders are unknown, the first for 2 d: the registry's answer was lost",
    href: '/orders?state=unknown',
  });
  await inbox.finishOrder(lost.key, { state: 'done', result: 'Reserved.' });
  expect((await readTrouble(filled, 'orders')).activity.unknownOrders).toMatchObject({
    orders: 1,
    firstId: 3,
  });
  clock.at += 8 * DAY;
  expect((await readTrouble(filled, 'orders')).activity.unknownOrders).toBeNull();
});
