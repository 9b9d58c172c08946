import { toInstant } from '../store/clock.js';
import { badRequest, conflict, found } from '../http/errors.js';
import { readFields, refuseFaults } from '../http/validate.js';
import { type Behaviour, createBehaviour } from './behaviour.js';
import { createSender, type Sender } from './sender.js';
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

interface Attempt {
  readonly startedAt: string;
  readonly status: number | null;
  readonly error: string | null;
}

export interface Deliveries {
  readonly send: (message: Message) => void;
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

interface Row {
  id: number;
  app_id: string;
  installation_id: string;
  event: string;
  url: string;
  body: string;
  signature: string | null;
  state: string;
  copy_of: number | null;
  created_at: string;
}

export interface DeliveryOptions {
  readonly store: Store;
  readonly prefix: string;
  /** Deliveries wait by the wall clock: moving the sandbox's clock neither hurries nor delays them. */
  readonly wall: () => number;
}

export function createDeliveries({ store, prefix, wall }: DeliveryOptions): Deliveries {
  const { db, now, write } = store;
  const insert = db.prepare<[object]>(
    `insert into deliveries (app_id, installation_id, event, url, body, signature, state, attempts_left, copy_of,
                             due_at, created_at)
     values (@appId, @installationId, @event, @url, @body, @signature, @state, @attempts, @copyOf, @dueAt, @createdAt)`,
  );
  const find = db.prepare<[number], Row>('select * from deliveries where id = ?');
  const page = db.prepare<[number], Row>('select * from deliveries order by id desc limit ?');
  const findAttempts = db.prepare<[number], Attempt>(
    'select started_at as startedAt, status, error from delivery_attempts where delivery_id = ? order by attempt',
  );
  const findHeld = db
    .prepare<[], number>(`select id from deliveries where state = 'held' order by id`)
    .pluck();
  const setState = db.prepare<[string, string, number]>(
    'update deliveries set state = ?, due_at = ? where id = ?',
  );
  const mood = createBehaviour(db);
  const sender: Sender = createSender({ store, prefix, wall, behaviour: mood.read });

  function send({ app, installationId, event, payload }: Message): void {
    if (app.webhook_url === null) return;
    const way = mood.read();
    const signed = signPayload(payload, app.webhook_secret);
    const isDropped = way.drop > 0;
    if (isDropped) mood.write({ ...way, drop: way.drop - 1 });
    const isHeld = way.hold || way.reorder > 1;
    const state = isDropped ? 'dropped' : isHeld ? 'held' : 'pending';
    const row = {
      appId: app.id,
      installationId,
      event,
      url: app.webhook_url,
      ...signed,
      state,
      attempts: Math.max(1, way.attempts),
      dueAt: toInstant(wall() + way.delayMs),
      createdAt: now(),
    };
    const first = Number(insert.run({ ...row, copyOf: null }).lastInsertRowid);
    for (let copy = 0; copy < way.duplicate; copy += 1) insert.run({ ...row, copyOf: first });
    const held = findHeld.all();
    if (!way.hold && way.reorder > 1 && held.length >= way.reorder) releaseNow(held.toReversed());
    sender.wake();
  }

  function releaseNow(ids: readonly number[]): void {
    let dueAt = wall() - ids.length;
    for (const id of ids) {
      setState.run('pending', toInstant(dueAt), id);
      dueAt += 1;
    }
    sender.wake();
  }

  function show(id: number): DeliveryShape {
    const row = found(find.get(id), 'Delivery');
    return {
      id: row.id,
      appId: row.app_id,
      installationId: row.installation_id,
      event: row.event,
      url: row.url,
      state: row.state,
      createdAt: row.created_at,
      copyOf: row.copy_of,
      attempts: findAttempts.all(id),
    };
  }

  function resend(id: number): DeliveryShape {
    const row = found(find.get(id), 'Delivery');
    const { app_id: appId, installation_id: installationId, event, url, body, signature } = row;
    const same = { appId, installationId, event, url, body, signature, copyOf: row.copy_of ?? id };
    const fresh = { state: 'pending', attempts: 1, dueAt: toInstant(wall()), createdAt: now() };
    const copy = Number(insert.run({ ...same, ...fresh }).lastInsertRowid);
    sender.wake();
    return show(copy);
  }

  function release(body?: unknown): void {
    const asked = readIds(body);
    write(() => {
      const ids = asked ?? findHeld.all();
      for (const id of ids) requireHeld(id);
      releaseNow(ids);
    });
  }

  function requireHeld(id: number): void {
    if (found(find.get(id), 'Delivery').state !== 'held') throw conflict(`Delivery ${id} is not held`);
  }

  return {
    send,
    behaviour: mood.read,
    behave: mood.change,
    list: limit => page.all(limit).map(row => show(row.id)),
    get(id) {
      const { body, signature } = found(find.get(id), 'Delivery');
      return { ...show(id), body, signature };
    },
    resend,
    release,
    drop(id) {
      requireHeld(id);
      setState.run('dropped', toInstant(wall()), id);
      return show(id);
    },
    settled: sender.settled,
    close: sender.close,
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
