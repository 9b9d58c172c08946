import { badRequest, conflict } from '../http/errors.js';
import { readBody } from '../http/validate.js';
import { createBehaviour } from './behaviour.js';
import { createSender } from './sender.js';
import type { DeliveryRow } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { type Message, signPayload } from './announcer.js';

export interface DeliveryOptions {
  readonly store: Store;
  readonly prefix: string;
}

export function createDeliveries({ store, prefix }: DeliveryOptions) {
  const { tables, now, wall, verb } = store;
  const { deliveries } = tables;
  const mood = createBehaviour(store);
  const sender = createSender({ store, prefix, behaviour: mood.read });

  function add(row: Omit<DeliveryRow, 'id' | 'attempts' | 'createdAt'>): DeliveryRow {
    const added = { ...row, id: deliveries.count() + 1, attempts: [], createdAt: now() };
    deliveries.put(added);
    sender.wake();
    return added;
  }

  /** Part of the verb that is told of. */
  function send({ app, installationId, event, payload }: Message): void {
    if (app.webhookUrl === null) return;
    const way = mood.read();
    const isDropped = way.drop > 0;
    if (isDropped) mood.write({ ...way, drop: way.drop - 1 });
    const isHeld = way.hold || way.reorder > 1;
    const row = {
      appId: app.id,
      installationId,
      event,
      url: app.webhookUrl,
      ...signPayload(payload, app.webhookSecret),
      state: isDropped ? 'dropped' : isHeld ? 'held' : 'pending',
      attemptsLeft: Math.max(1, way.attempts),
      dueAt: wall() + way.delayMs,
    } as const;
    const { id } = add({ ...row, copyOf: null });
    for (let copy = 0; copy < way.duplicate; copy += 1) add({ ...row, copyOf: id });
    const held = heldIds();
    if (!way.hold && way.reorder > 1 && held.length >= way.reorder) letGo(held.toReversed());
  }

  function heldIds(): number[] {
    const rows = deliveries.live().filter(({ state }) => state === 'held');
    return rows.map(({ id }) => id).toSorted((one, other) => one - other);
  }

  /** In this order. */
  function letGo(ids: readonly number[]): void {
    const from = wall() - ids.length;
    for (const [place, id] of ids.entries())
      deliveries.put({ ...deliveries.find(id), state: 'pending', dueAt: from + place });
    sender.wake();
  }

  /** Sends one more copy, whatever became of the first. */
  const resend = verb('resend', (id: number) => {
    const { copyOf, ...same } = deliveries.find(id);
    const fresh = { state: 'pending', attemptsLeft: 1, dueAt: wall() } as const;
    return show(add({ ...same, ...fresh, copyOf: copyOf ?? id }));
  });

  function findHeld(id: number): DeliveryRow {
    const row = deliveries.find(id);
    if (row.state !== 'held') throw conflict(`Delivery ${id} is not held`);
    return row;
  }

  const release = verb('release', (ids: readonly number[]) => letGo(ids.map(id => findHeld(id).id)));

  const drop = verb('drop', (id: number) => {
    const row: DeliveryRow = { ...findHeld(id), state: 'dropped' };
    deliveries.put(row);
    return show(row);
  });

  return {
    send,
    /** Once what was done before is known. */
    start: sender.start,
    behaviour: mood.read,
    behave: mood.change,
    list: (limit: number) => deliveries.newest(limit).map(show),
    get(id: number) {
      const row = deliveries.find(id);
      return { ...show(row), body: row.body, signature: row.signature };
    },
    resend,
    /** Lets held ones go, in the order of the `ids`; all of them in their own order where there are none. */
    release: (body?: unknown) => release(readIds(body) ?? heldIds()),
    drop,
    settled: sender.settled,
    close: sender.close,
  };
}

function show(row: DeliveryRow) {
  const { attemptsLeft: _left, dueAt: _due, body: _body, signature: _signature, ...shown } = row;
  return shown;
}

function readIds(body: unknown): readonly number[] | undefined {
  const ids = body === undefined ? undefined : readBody(body, fields => fields.value('ids'));
  if (ids === undefined) return undefined;
  if (!Array.isArray(ids) || !ids.every(id => Number.isSafeInteger(id)))
    throw badRequest('ids must be a list of delivery ids');
  return ids.map(Number);
}
