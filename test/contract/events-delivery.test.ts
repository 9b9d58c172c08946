import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test, vi } from 'vitest';
import { createEpochName } from '../../src/events/epoch-name.js';
import { openEvents } from '../support/events.js';
import { MINUTE, openFilledMirror } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

const HOUR = 60 * MINUTE;

async function openAll() {
  const mirror = await openFilledMirror({ organizations: 2 });
  return { ...mirror, ...(await openEvents(mirror)) };
}

describe('delivery of events', () => {
  test('a subscriber receives each change once, in order, and the public package verifies it', async () => {
    const { subscribe, send, receiver, find, read, clock } = await openAll();
    const { id, secret, epoch } = await subscribe();
    await send();
    expect(receiver.accepted.map(({ type }) => type).toSorted()).toEqual([
      'credit.changed',
      'credit.changed',
      'credit.changed',
      'organization.changed',
      'organization.changed',
      'organization.installed',
      'organization.installed',
      'retirement.created',
      'retirement.created',
      'retirement.created',
    ]);
    for (const { id: eventId, data, body, headers } of receiver.accepted) {
      expect(eventId).toBe(`${epoch}_${String(data['number'])}`);
      // The package refuses timestamps that are older than five minutes, so the mirror's clock is that of the machine.
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    }
    for (const organization of ['organization-1', 'organization-2']) {
      const numbers = receiver.accepted
        .filter(({ data }) => data['organization_id'] === organization)
        .map(({ data }) => Number(data['number']));
      expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
    }
    const before = receiver.received.length;
    await send();
    expect(receiver.received).toHaveLength(before);
    expect(await find(id)).toMatchObject({ delivered: 10, refused: 0, state: 'active', claimed_until: null });

    clock.at += MINUTE / 2;
    await read('warehouse', [
      credit('c-1-0', { amount: amount('40'), serialization: 'ICR-ISL-1-0-14-R-0-2021' }),
    ]);
    await send();
    expect(receiver.accepted.at(-1)).toMatchObject({
      type: 'credit.changed',
      data: {
        organization_id: 'organization-1',
        resource: 'warehouse',
        change: 'changed',
        row: { credit_id: 'c-1-0', amount_exact: '40' },
        previous: { amount_exact: '100' },
        changed_columns: ['amount_exact'],
      },
    });
  });

  test('a subscriber receives only the types that it selected', async () => {
    const { subscribe, send, receiver, find } = await openAll();
    const { id } = await subscribe({ types: ['retirement.created'] });
    await send();
    expect(receiver.accepted.map(({ type }) => type)).toEqual(Array(3).fill('retirement.created'));
    // The cursor also moves over changes that are not sent.
    await send();
    expect((await find(id)).delivered).toBe(3);
  });

  test('a refused event holds back its organization only, and is sent again with the same id and body', async () => {
    const { subscribe, send, receiver, find, port, clock } = await openAll();
    const { id } = await subscribe({ types: ['retirement.created'] });
    let refuses = true;
    receiver.answer = ({ rowId }) => (refuses && rowId === 'r-2-0' ? 500 : 204);
    await send();
    expect(receiver.received.map(({ rowId }) => rowId)).toEqual(expect.arrayContaining(['r-1-0', 'r-2-0']));
    expect(receiver.received).toHaveLength(2);
    expect(await port.listHolds()).toMatchObject([
      { organization_id: 'organization-2', attempts: 1, status: 500, error: 'refused', state: 'waiting' },
    ]);
    clock.at += 4_000;
    await send();
    expect(receiver.received).toHaveLength(2);
    clock.at += 2_000;
    await send();
    expect(receiver.received).toHaveLength(3);
    refuses = false;
    clock.at += HOUR;
    // Each answer takes longer than the bodies of a page may be used, so the waiting events are read again.
    receiver.answer = () => {
      clock.at += 3_000;
      return 204;
    };
    await send();
    const ids = receiver.received.map(event => event.rowId);
    expect(ids.slice(2)).toEqual(['r-2-0', 'r-2-0', 'r-2-1']);
    const attempts = receiver.received.filter(({ rowId }) => rowId === 'r-2-0');
    expect(new Set(attempts.map(event => `${event.id} ${event.body}`)).size).toBe(1);
    expect(await port.listHolds()).toEqual([]);
    expect(await find(id)).toMatchObject({ delivered: 3, refused: 2 });
  });

  test('a refused event is sent again without the one before it', async () => {
    const { subscribe, send, receiver, port, clock } = await openAll();
    await subscribe({ types: ['retirement.created'] });
    let refuses = true;
    receiver.answer = ({ rowId }) => (refuses && rowId === 'r-2-1' ? 500 : 204);
    await send();
    refuses = false;
    clock.at += MINUTE;
    await send();
    const own = receiver.received.map(({ rowId }) => rowId).filter(rowId => rowId?.startsWith('r-2'));
    expect(own).toEqual(['r-2-0', 'r-2-1', 'r-2-1']);
    expect(await port.listHolds()).toEqual([]);
  });

  test('a refused announcement of a restore is sent again, and holds nothing once it was accepted', async () => {
    const { subscribe, send, receiver, port, clock } = await openAll();
    await subscribe();
    await send();
    const at = new Date(clock.at).toISOString();
    await port.beginEpoch({ epoch: createEpochName(randomBytes), at, reason: 'restored', newestChange: 1 });
    receiver.answer = () => 500;
    await send();
    expect(await port.listHolds()).toMatchObject([{ refused_type: 'mirror.restored' }]);
    receiver.answer = () => 204;
    clock.at += MINUTE;
    await send();
    expect(receiver.accepted.filter(({ type }) => type === 'mirror.restored')).toHaveLength(1);
    expect(await port.listHolds()).toEqual([]);
  });

  test('progress is saved after each second and each page, and a page is used for two seconds', async () => {
    const mirror = await openFilledMirror({ organizations: 1 });
    const { subscribe, send, receiver, port, context } = await openEvents(mirror);
    await mirror.read(
      'retirements',
      Array.from({ length: 8 }, (_, n) => retirement(`r-1-${n}`)),
    );
    await subscribe({ types: ['retirement.created'] });
    receiver.answer = () => {
      mirror.clock.at += 400;
      return 204;
    };
    const save = vi.spyOn(port, 'save');
    const readNewest = vi.spyOn(context.changes, 'readNewest');
    await send();
    expect(receiver.accepted).toHaveLength(8);
    // The first page sends six events within two seconds, the second page sends two, and the third page is empty.
    expect(save.mock.calls.map(([{ attempts }]) => attempts.length)).toEqual([3, 3, 2]);
    // Once before the first page, and once for each page.
    expect(readNewest).toHaveBeenCalledTimes(4);
  });

  test.each([
    ['a refused event beyond the saved cursors is sent again as it was, and before later ones', false],
    ['a refused event that was delivered since is not sent again', true],
  ])('%s', async (_title, isDelivered) => {
    const { subscribe, send, receiver, port, clock } = await openAll();
    const types = ['retirement.created'];
    await subscribe({ types });
    await send();
    const numberOf = (rowId: string) =>
      Number(receiver.accepted.find(event => event.rowId === rowId)?.data['number']);
    const refused = numberOf('r-2-0');
    receiver.received.length = 0;
    const { id, epoch } = await subscribe({ types });
    const claim = await port.claim(id, 1);
    if (claim === null) throw new Error('expected a claim, got none');
    const failedAt = new Date(clock.at).toISOString();
    // Unless the refused event was delivered, an event of another organization was still open when the sender stopped, so the cursors
    // are before the refused event.
    await port.save({
      ...claim,
      epoch,
      changeCursor: isDelivered ? refused : 0,
      occurrenceCursor: 0,
      holds: [
        {
          subscription_id: id,
          organization_id: 'organization-2',
          state: 'waiting',
          change_position: isDelivered ? refused : refused - 1,
          occurrence_position: 0,
          refused_stream: 'change',
          refused_number: refused,
          refused_type: 'retirement.created',
          attempts: 1,
          failing_since: failedAt,
          failed_at: failedAt,
          next_attempt_at: failedAt,
          status: 500,
          error: 'refused',
        },
      ],
      released: [],
      attempts: [],
      pauseReason: null,
    });
    await port.release(claim);
    clock.at += MINUTE;
    await send();
    const own = receiver.received.filter(({ rowId }) => rowId !== 'r-1-0');
    expect(own.map(({ rowId, isErased }) => [rowId, isErased])).toEqual([
      ...(isDelivered ? [] : [['r-2-0', false]]),
      ['r-2-1', false],
    ]);
    expect(receiver.received.filter(({ rowId }) => rowId === 'r-1-0')).toHaveLength(isDelivered ? 0 : 1);
    expect(await port.listHolds()).toEqual([]);
  });

  test('after three days without a success the subscription is paused with its reason, and can be resumed', async () => {
    const { subscribe, send, receiver, find, port, clock } = await openAll();
    const { id } = await subscribe({ types: ['retirement.created'] });
    receiver.answer = () => 503;
    for (let turn = 0; turn < 100 && (await find(id)).state === 'active'; turn += 1) {
      await send();
      clock.at += HOUR;
    }
    const paused = await find(id);
    expect(paused).toMatchObject({ state: 'paused', delivered: 0 });
    expect(paused.pause_reason).toMatch(
      /^no event was delivered since .*: retirement.created got HTTP status 503$/,
    );
    const { length } = receiver.received;
    expect(length).toBeLessThan(60);
    clock.at += 24 * HOUR;
    await send();
    expect(receiver.received).toHaveLength(length);
    receiver.answer = () => 200;
    await port.resume(id, new Date(clock.at).toISOString());
    await send();
    expect(receiver.accepted).toHaveLength(3);
    expect(await port.listHolds()).toEqual([]);
  });

  test('an event that alone is refused for three days pauses its organization, not the subscription', async () => {
    const { subscribe, send, receiver, find, port, clock, read } = await openAll();
    const { id } = await subscribe({ types: ['retirement.created'] });
    receiver.answer = ({ data }) => (data['organization_id'] === 'organization-2' ? 422 : 204);
    for (let turn = 0; turn < 30; turn += 1) {
      await send();
      clock.at += 4 * HOUR;
      const items = Array.from({ length: turn + 2 }, (_, index) => retirement(`r-1-${index}`));
      await read('retirements', items);
    }
    await send();
    expect(await find(id)).toMatchObject({ state: 'active', delivered: 31 });
    expect(await port.listHolds()).toMatchObject([{ organization_id: 'organization-2', state: 'paused' }]);
    receiver.answer = () => 204;
    await port.resume(id, new Date(clock.at).toISOString());
    await send();
    expect(receiver.accepted.slice(-2).map(({ data }) => data['organization_id'])).toEqual([
      'organization-2',
      'organization-2',
    ]);
    expect(await port.listHolds()).toEqual([]);
  });

  test('occurrences of an organization wait in order behind a refused one, and none is sent twice', async () => {
    const { subscribe, send, receiver, port, clock } = await openAll();
    await subscribe({ types: ['job.failed'] });
    const occurred_at = new Date(clock.at).toISOString();
    const event = { organization_id: 'organization-1', detail: 'server_error', occurred_at };
    const fail = (job: number) => ({ ...event, type: 'job.failed', subject: String(job) });
    const notSelected = { ...event, type: 'freshness.stale', subject: 'retirements' };
    await port.record([fail(1), fail(2), notSelected, fail(3)]);
    let refusedJob = 2;
    receiver.answer = ({ data }) => (data['job_id'] === refusedJob ? 500 : 204);
    await send();
    await port.record([fail(4)]);
    await send();
    for (const job of [3, 4, 0]) {
      refusedJob = job;
      clock.at += MINUTE;
      await send();
    }
    expect(receiver.received.map(({ data }) => data['job_id'])).toEqual([1, 2, 2, 3, 3, 4, 4]);
    expect(await port.listHolds()).toEqual([]);
  });

  test('an attempt without an answer is stored with the error of the connection', async () => {
    const { subscribe, send, port } = await openAll();
    await subscribe({ types: ['organization.installed'], url: 'http://127.0.0.1:1/hook' });
    await send();
    expect(await port.listHolds()).toMatchObject([
      { status: null, error: 'unreachable' },
      { status: null, error: 'unreachable' },
    ]);
  });

  test('410 pauses a subscription at once', async () => {
    const { subscribe, send, receiver, find } = await openAll();
    const { id } = await subscribe();
    receiver.answer = () => 410;
    await send();
    expect(await find(id)).toMatchObject({
      state: 'paused',
      pause_reason: 'the subscriber answered 410 (gone)',
    });
  });

  test('an unreachable subscriber costs few attempts, and no other subscriber waits for it', async () => {
    const mirror = await openFilledMirror({ organizations: 12 });
    const { subscribe, send, receiver, port } = await openEvents(mirror);
    const { receiver: reachable } = await openEvents(mirror);
    await subscribe({ types: ['retirement.created'] });
    await subscribe({ types: ['retirement.created', 'credit.changed'], url: reachable.url });
    receiver.answer = () => 500;
    await send();
    const { length } = receiver.received;
    // Four organizations are sent at the same time, and two more start before the third failure.
    expect(length).toBeLessThanOrEqual(6);
    await mirror.read('warehouse', [credit('c-1-0', { amount: amount('41') })]);
    await send();
    expect(reachable.accepted.at(-1)).toMatchObject({ data: { row: { amount_exact: '41' } } });
    for (let turn = 0; turn < 10; turn += 1) {
      mirror.clock.at += 6_000;
      await send();
    }
    expect(receiver.received.length).toBeLessThan(20);
    receiver.answer = () => 204;
    mirror.clock.at += HOUR;
    await send();
    expect(receiver.accepted).toHaveLength((12 * 13) / 2);
    expect(await port.listHolds()).toEqual([]);
  });

  test('a rotated subscription signs with both secrets until the end of the overlap', async () => {
    const { subscribe, send, receiver, port, clock, read } = await openAll();
    const { id, secret } = await subscribe({ types: ['credit.changed'] });
    await send();
    await port.rotate(id, new Date(clock.at + HOUR).toISOString());
    const { deriveSecret } = await import('../../src/events/signing.js');
    const { EVENTS_KEY } = await import('../support/events.js');
    const renewed = deriveSecret(EVENTS_KEY, id, 2);
    expect(renewed).not.toBe(secret);
    await read('warehouse', [credit('c-1-0', { amount: amount('41') })]);
    await send();
    const { body, headers } = receiver.accepted.at(-1) ?? { body: '', headers: {} };
    for (const each of [secret, renewed]) expect(new Webhook(each).verify(body, headers)).toBeTruthy();
    clock.at += HOUR;
    await read('warehouse', [credit('c-1-0', { amount: amount('42') })]);
    await send();
    expect(receiver.accepted.at(-1)?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  });

  test('a subscription that was made with another key is logged once, and gets nothing', async () => {
    const { subscribe, send, receiver, errors } = await openAll();
    const { id } = await subscribe({ key_check: 'of another key' });
    await send();
    await send();
    expect(errors).toEqual([{ subscription: id }]);
    expect(receiver.received).toEqual([]);
  });

  test('a mirror that is older than what was sent is logged with its newest change', async () => {
    const { subscribe, send, port, errors } = await openAll();
    await subscribe({ change_cursor: 1_000_000 });
    await send();
    const epoch = await port.readEpoch();
    expect(errors).toContainEqual({ epoch: epoch?.epoch, newestChange: epoch?.newest_change });
  });

  test('replay sends events again with the same ids and bodies', async () => {
    const { subscribe, send, receiver, port } = await openAll();
    const { id } = await subscribe();
    await send();
    const sent = receiver.accepted.map(event => `${event.id} ${event.body}`);
    await port.replay(id, 0, 0);
    await send();
    expect(receiver.accepted.map(event => `${event.id} ${event.body}`).toSorted()).toEqual(
      [...sent, ...sent].toSorted(),
    );
  });
});
