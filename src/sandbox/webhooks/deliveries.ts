import { badRequest, conflict } from '../http/errors.js';
import { readBody } from '../http/read-body.js';
import { createDeliverySettings } from './delivery-settings.js';
import { createSender } from './sender.js';
import type { DeliveryRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { type WebhookMessage, signPayload } from './publisher.js';

export interface DeliveryOptions {
  readonly store: SandboxStore;
  readonly prefix: string;
}

/** Stores the webhooks that the publisher creates, and applies the delivery settings to them. The sender posts them. */
export function createDeliveries({ store, prefix }: DeliveryOptions) {
  const { tables, now, wallClock, defineOperation } = store;
  const { deliveries } = tables;
  const settings = createDeliverySettings(store);
  const sender = createSender({ store, prefix, getSettings: settings.read });

  /** Stores a new delivery and wakes the sender. */
  function add(row: Omit<DeliveryRecord, 'id' | 'attempts' | 'createdAt'>): DeliveryRecord {
    const added = { ...row, id: deliveries.count() + 1, attempts: [], createdAt: now() };
    deliveries.put(added);
    sender.wake();
    return added;
  }

  /** Adds a delivery for an app that has a webhook URL, subject to the delivery settings. */
  function enqueue({ app, installationId, event, payload }: WebhookMessage): void {
    if (app.webhookUrl === null) return;
    const current = settings.read();
    const isDropped = current.drop > 0;
    if (isDropped) settings.write({ ...current, drop: current.drop - 1 });
    const isHeld = current.hold || current.reorder > 1;
    const row = {
      appId: app.id,
      installationId,
      event,
      url: app.webhookUrl,
      ...signPayload(payload, app.webhookSecret),
      state: firstState(isDropped, isHeld),
      attemptsLeft: Math.max(1, current.attempts),
      dueAt: wallClock() + current.delayMs,
    } as const;
    const { id } = add({ ...row, copyOf: null });
    for (let copy = 0; copy < current.duplicate; copy += 1) add({ ...row, copyOf: id });
    const held = listHeldIds();
    if (!current.hold && current.reorder > 1 && held.length >= current.reorder)
      sendInOrder(held.toReversed());
  }

  /** Lists the held deliveries in the order of their creation. */
  function listHeldIds(): number[] {
    const rows = deliveries.listLive().filter(({ state }) => state === 'held');
    return rows.map(({ id }) => id).toSorted((left, right) => left - right);
  }

  /** Makes held deliveries due, in the given order. */
  function sendInOrder(ids: readonly number[]): void {
    // Deliveries are sent in the order of `dueAt`, so each gets a later one.
    const firstDueAt = wallClock() - ids.length;
    for (const [index, id] of ids.entries())
      deliveries.put({ ...deliveries.getOrThrow(id), state: 'pending', dueAt: firstDueAt + index });
    sender.wake();
  }

  /** Sends one more copy of a delivery, whatever the state of the first one. */
  const resend = defineOperation('resend', (id: number) => {
    const { copyOf, ...original } = deliveries.getOrThrow(id);
    const pending = { state: 'pending', attemptsLeft: 1, dueAt: wallClock() } as const;
    return toJson(add({ ...original, ...pending, copyOf: copyOf ?? id }));
  });

  /** Returns the delivery, or throws 409 if it is not held. */
  function getHeld(id: number): DeliveryRecord {
    const row = deliveries.getOrThrow(id);
    if (row.state !== 'held') throw conflict(`Delivery ${id} is not held`);
    return row;
  }

  const release = defineOperation('release', (ids: readonly number[]) =>
    sendInOrder(ids.map(id => getHeld(id).id)),
  );

  const drop = defineOperation('drop', (id: number) => {
    const row: DeliveryRecord = { ...getHeld(id), state: 'dropped' };
    deliveries.put(row);
    return toJson(row);
  });

  return {
    enqueue,
    /** Starts sending. To be called after the journal was replayed. */
    start: sender.start,
    getSettings: settings.read,
    changeSettings: settings.change,
    list: (limit: number) => deliveries.listNewest(limit).map(toJson),
    /** Returns the JSON of a delivery with its body and signature. */
    get(id: number) {
      const row = deliveries.getOrThrow(id);
      return { ...toJson(row), body: row.body, signature: row.signature };
    },
    resend,
    /** Releases held deliveries in the order of `ids`, or all of them in the order of their creation. */
    release: (body?: unknown) => release(readIds(body) ?? listHeldIds()),
    drop,
    waitUntilSettled: sender.waitUntilSettled,
    close: sender.close,
  };
}

/** Returns the state in which a new delivery starts. */
function firstState(isDropped: boolean, isHeld: boolean): DeliveryRecord['state'] {
  if (isDropped) return 'dropped';
  return isHeld ? 'held' : 'pending';
}

/** Converts a delivery to JSON for the control API, without its body. */
function toJson(row: DeliveryRecord) {
  const { attemptsLeft: _left, dueAt: _due, body: _body, signature: _signature, ...shown } = row;
  return shown;
}

/** Reads the `ids` of a body. Returns undefined if there is no body or it has no `ids`. */
function readIds(body: unknown): readonly number[] | undefined {
  const ids = body === undefined ? undefined : readBody(body, fields => fields.value('ids'));
  if (ids === undefined) return undefined;
  if (!Array.isArray(ids) || !ids.every(id => Number.isSafeInteger(id)))
    throw badRequest('ids must be a list of delivery ids');
  return ids.map(Number);
}
