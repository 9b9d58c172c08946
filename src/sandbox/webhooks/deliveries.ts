import { badRequest, conflict, found } from '../http/errors.js';
import { readFields, refuseFaults } from '../http/validate.js';
import { type Behaviour, createBehaviour } from './behaviour.js';
import { createSender, type Sender } from './sender.js';
import type { Attempt, DeliveryRow } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { type Message, signPayload } from './announcer.js';

interface DeliveryShape {
  readonly id: number;
  readonly appId: string;
  readonly installationId: string;
  readonly event: string;
  readonly url: string;
  readonly state: string;
  readonly createdAt: string;
  readonly copyOf: number | null;
  readonly attempts: readonly Attempt[];
}

export interface Deliveries {
  readonly send: (message: Message) => void;
  /** Once what was done before is known. */
  start(): void;
  behaviour(): Behaviour;
  behave(body: unknown): Behaviour;
  list(limit: number): readonly DeliveryShape[];
  get(id: number): DeliveryShape & { readonly body: string; readonly signature: string | null };
  /** Sends one more copy, whatever became of the first. */
  resend(id: number): DeliveryShape;
  /** Lets held ones go, in the order of the `ids`; all of them in their own order where there are none. */
  release(body?: unknown): void;
  drop(id: number): DeliveryShape;
  /** Waits until nothing is on its way. Held ones do not count. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface DeliveryOptions {
  readonly store: Store;
  readonly prefix: string;
}

export function createDeliveries({ store, prefix }: DeliveryOptions): Deliveries {
  const { tables, now, wall, verb } = store;
  const { deliveries } = tables;
  const mood = createBehaviour(store);
  const sender: Sender = createSender({ store, prefix, behaviour: mood.read });

  function find(id: number): DeliveryRow {
    return found(deliveries.get(id), 'Delivery');
  }

  function add(row: Omit<DeliveryRow, 'id' | 'attempts' | 'created_at'>): DeliveryRow {
    const added = { ...row, id: deliveries.count() + 1, attempts: [], created_at: now() };
    deliveries.put(added);
    sender.wake();
    return added;
  }

  /** Part of the verb that is told of. */
  function send({ app, installationId, event, payload }: Message): void {
    if (app.webhook_url === null) return;
    const way = mood.read();
    const isDropped = way.drop > 0;
    if (isDropped) mood.write({ ...way, drop: way.drop - 1 });
    const isHeld = way.hold || way.reorder > 1;
    const row = {
      app_id: app.id,
      installation_id: installationId,
      event,
      url: app.webhook_url,
      ...signPayload(payload, app.webhook_secret),
      state: isDropped ? 'dropped' : isHeld ? 'held' : 'pending',
      attempts_left: Math.max(1, way.attempts),
      due_at: wall() + way.delayMs,
    } as const;
    const { id } = add({ ...row, copy_of: null });
    for (let copy = 0; copy < way.duplicate; copy += 1) add({ ...row, copy_of: id });
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
      deliveries.put({ ...find(id), state: 'pending', due_at: from + place });
    sender.wake();
  }

  const resend = verb('resend', (id: number) => {
    const { copy_of, ...same } = find(id);
    const fresh = { state: 'pending', attempts_left: 1, due_at: wall() } as const;
    return show(add({ ...same, ...fresh, copy_of: copy_of ?? id }));
  });

  function findHeld(id: number): DeliveryRow {
    const row = find(id);
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
    start: sender.start,
    behaviour: mood.read,
    behave: mood.change,
    list: limit => deliveries.page(deliveries.count() - limit + 1, deliveries.count()).map(show),
    get(id) {
      const row = find(id);
      return { ...show(row), body: row.body, signature: row.signature };
    },
    resend,
    release: body => release(readIds(body) ?? heldIds()),
    drop,
    settled: sender.settled,
    close: sender.close,
  };
}

function show(row: DeliveryRow): DeliveryShape {
  return {
    id: row.id,
    appId: row.app_id,
    installationId: row.installation_id,
    event: row.event,
    url: row.url,
    state: row.state,
    createdAt: row.created_at,
    copyOf: row.copy_of,
    attempts: row.attempts,
  };
}

function readIds(body: unknown): readonly number[] | undefined {
  if (body === undefined) return undefined;
  const faults: string[] = [];
  const ids = readFields(body, faults).value('ids');
  refuseFaults(faults);
  if (ids === undefined) return undefined;
  if (!Array.isArray(ids) || !ids.every(id => Number.isSafeInteger(id))) {
    throw badRequest('ids must be a list of delivery ids');
  }
  return ids.map(Number);
}
