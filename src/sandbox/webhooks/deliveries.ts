/**
 * The webhooks of the sandbox. `publisher.ts` creates one for each event and app, this file stores it as a delivery and
 * applies the delivery settings, and `sender.ts` posts it. Deliveries are created inside the operation that causes the
 * event, so a failed operation sends nothing.
 */
import { badRequest, conflict } from '../http/api-errors.js';
import { readBody } from '../http/request-body.js';
import { createDeliverySettings } from './delivery-settings.js';
import { createDeliverySender } from './sender.js';
import type { DeliveryRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { type WebhookMessage, signPayload } from './publisher.js';

export interface DeliveryServiceOptions {
  readonly store: SandboxStore;
  readonly headerPrefix: string;
}

/** Creates the service that stores webhook deliveries and applies the delivery settings. */
export function createDeliveryService({ store, headerPrefix }: DeliveryServiceOptions) {
  const { tables, now, wallClock, defineOperation } = store;
  const { deliveries } = tables;
  const settings = createDeliverySettings(store);
  const sender = createDeliverySender({ store, headerPrefix, getSettings: settings.read });

  /** Stores a new delivery and wakes the sender. */
  function addDelivery(row: Omit<DeliveryRecord, 'id' | 'attempts' | 'createdAt'>): DeliveryRecord {
    const added = { ...row, id: deliveries.count() + 1, attempts: [], createdAt: now() };
    deliveries.put(added);
    sender.wake();
    return added;
  }

  /**
   * Stores a webhook to be sent to its app, if the app has a URL. The delivery settings can drop, hold, delay or repeat the
   * webhook.
   */
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
      state: chooseInitialState(isDropped, isHeld),
      attemptsLeft: Math.max(1, current.attempts),
      dueAt: wallClock() + current.delayMs,
    } as const;
    const { id } = addDelivery({ ...row, copyOf: null });
    for (let copy = 0; copy < current.duplicate; copy += 1) addDelivery({ ...row, copyOf: id });
    const held = listHeldDeliveryIds();
    if (!current.hold && current.reorder > 1 && held.length >= current.reorder)
      sendInOrder(held.toReversed());
  }

  /** Returns the ids of the held deliveries, oldest first. */
  function listHeldDeliveryIds(): number[] {
    const rows = deliveries.listLive().filter(({ state }) => state === 'held');
    return rows.map(({ id }) => id).toSorted((left, right) => left - right);
  }

  /** Changes held deliveries to pending, so that the sender posts them in the order of `ids`. */
  function sendInOrder(ids: readonly number[]): void {
    // Deliveries are sent in the order of `dueAt`, so each gets a later one.
    const firstDueAt = wallClock() - ids.length;
    for (const [index, id] of ids.entries())
      deliveries.put({ ...deliveries.getOrThrow(id), state: 'pending', dueAt: firstDueAt + index });
    sender.wake();
  }

  /** Sends a copy of a delivery, whatever the state of the original delivery. */
  const resend = defineOperation('resend', (id: number) => {
    const { copyOf, ...original } = deliveries.getOrThrow(id);
    const pending = { state: 'pending', attemptsLeft: 1, dueAt: wallClock() } as const;
    return toDeliveryJson(addDelivery({ ...original, ...pending, copyOf: copyOf ?? id }));
  });

  /** Returns the delivery with this id. Throws a 409 error if the delivery is not held, and a 404 error if there is none. */
  function getHeldDelivery(id: number): DeliveryRecord {
    const row = deliveries.getOrThrow(id);
    if (row.state !== 'held') throw conflict(`Delivery ${id} is not held`);
    return row;
  }

  const release = defineOperation('release', (ids: readonly number[]) =>
    sendInOrder(ids.map(id => getHeldDelivery(id).id)),
  );

  const drop = defineOperation('drop', (id: number) => {
    const row: DeliveryRecord = { ...getHeldDelivery(id), state: 'dropped' };
    deliveries.put(row);
    return toDeliveryJson(row);
  });

  return {
    enqueue,
    /** Starts the sender. Call `start` after the journal was replayed. */
    start: sender.start,
    getSettings: settings.read,
    changeSettings: settings.changeSettings,
    list: (limit: number) => deliveries.listNewest(limit).map(toDeliveryJson),
    /** Returns the JSON of a delivery, including the body and the signature. */
    get(id: number) {
      const row = deliveries.getOrThrow(id);
      return { ...toDeliveryJson(row), body: row.body, signature: row.signature };
    },
    resend,
    /**
     * Releases the held deliveries with the `ids` in a request body, in the order of `ids`. Without `ids`, releases all
     * held deliveries.
     */
    release: (body?: unknown) => release(readDeliveryIds(body) ?? listHeldDeliveryIds()),
    drop,
    waitUntilSettled: sender.waitUntilSettled,
    close: sender.close,
  };
}

/** Returns the initial state of a delivery: dropped, else held, else pending. */
function chooseInitialState(isDropped: boolean, isHeld: boolean): DeliveryRecord['state'] {
  if (isDropped) return 'dropped';
  return isHeld ? 'held' : 'pending';
}

/** Converts a delivery to the JSON of the control API, without the body and the signature. */
function toDeliveryJson(row: DeliveryRecord) {
  const { attemptsLeft: _left, dueAt: _due, body: _body, signature: _signature, ...shown } = row;
  return shown;
}

/** Returns the delivery `ids` in a request body. Returns undefined if the request has no body or no `ids`. */
function readDeliveryIds(body: unknown): readonly number[] | undefined {
  const ids = body === undefined ? undefined : readBody(body, fields => fields.value('ids'));
  if (ids === undefined) return undefined;
  if (!Array.isArray(ids) || !ids.every(id => Number.isSafeInteger(id)))
    throw badRequest('ids must be a list of delivery ids');
  return ids.map(Number);
}
