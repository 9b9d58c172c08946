import { expect, test } from 'vitest';
import {
  hasActiveInstallation,
  readAppId,
  readOrderByKey,
  readReservation,
  readWarehouseCredit,
} from '../../src/query/order-targets.js';
import { openFilledMirror, writeInstallation } from '../support/mirror/open.js';
import { reservation } from '../support/reservation.js';

test('a credit and a reservation are read of one organization only', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 2 });
  const reservedToDate = new Date(clock.at + 600_000).toISOString();
  await read('reservations', [reservation('h-1', { reservedToDate })]);
  expect(await readWarehouseCredit(reader, 'organization-2', 'c-2-0')).toMatchObject({ credit_id: 'c-2-0' });
  expect(await readWarehouseCredit(reader, 'organization-1', 'c-2-0')).toBeNull();
  const held = await readReservation(reader, 'organization-1', 'h-1');
  expect(held).toMatchObject({ id: 'h-1', state_now: 'outstanding', seconds_left: expect.any(Number) });
  expect(await readReservation(reader, 'organization-2', 'h-1')).toBeNull();
});

test('the app may act for an organization while one of its installations is active', async () => {
  const { reader, mirror, clock, db } = await openFilledMirror({ organizations: 1 });
  const write = async (n: number, state: 'active' | 'suspended') =>
    await writeInstallation({ mirror, clock }, n, { organizationId: 'organization-1', state, claim: 2 });
  expect(await hasActiveInstallation(reader, 'organization-1')).toBe(true);
  await write(1, 'suspended');
  expect(await hasActiveInstallation(reader, 'organization-1')).toBe(false);
  await write(2, 'active');
  expect(await hasActiveInstallation(reader, 'organization-1')).toBe(true);
  expect(await hasActiveInstallation(reader, 'nobody')).toBe(false);
  expect(await readAppId(reader)).toBe('app-1');
  await db.change('DELETE FROM origin');
  expect(await readAppId(reader)).toBeNull();
});

test('an order is read by its key, with all that was ordered', async () => {
  const { reader, tables } = await openFilledMirror({ organizations: 1 });
  const at = '2026-05-04T12:00:00.000Z';
  const common = {
    key: 'key-1',
    actor: 'dana',
    organization_id: 'organization-1',
    credit_id: 'c-1-0',
    amount_exact: '2.5',
    reservation_id: 'h-1',
    state: 'sending',
    sent_at: at,
    created_at: at,
  };
  const retired = { beneficiary: 'Ada', reason: 'Voluntary purposes', comment: 'For 2025' };
  for (const order of [
    { ...common, ...retired, action: 'retire' },
    { ...common, key: 'key-2', action: 'transfer', reservation_id: 'h-2', receiver_id: 'organization-2' },
  ])
    await tables.change(
      `INSERT INTO inbox.orders (${Object.keys(order).join(', ')}) VALUES (${Object.keys(order)
        .map(() => '?')
        .join(', ')})`,
      ...Object.values(order),
    );
  const read = {
    id: expect.any(Number),
    key: 'key-1',
    actor: 'dana',
    organizationId: 'organization-1',
    creditId: 'c-1-0',
    amount: '2.5',
    reservationId: 'h-1',
    state: 'sending',
    sentAt: at,
  };
  expect(await readOrderByKey(reader, 'key-1')).toEqual({
    ...read,
    ...retired,
    action: 'retire',
    receiverId: null,
  });
  expect(await readOrderByKey(reader, 'key-2')).toEqual({
    ...read,
    key: 'key-2',
    action: 'transfer',
    reservationId: 'h-2',
    receiverId: 'organization-2',
    beneficiary: null,
    reason: null,
    comment: null,
  });
  expect(await readOrderByKey(reader, 'key-3')).toBeNull();
});
