import { openDatabase, type Sqlite, write } from '../engines/sqlite/open.js';
import { createAcceptDeliveries } from '../engines/sqlite/inbox/deliveries.js';
import { describeFailure, type NewDelivery, type StoreFailure, type StoreResult } from './delivery.js';
import type { Pulse } from './process.js';
import type { Refusal } from './refusal.js';
import { createCountRefusals } from '../engines/sqlite/inbox/refusals.js';
import { createPulse, createSignOfLife, type SignOfLife } from '../engines/sqlite/inbox/signs.js';
import { storeGroup } from '../engines/sqlite/inbox/store-group.js';

/** The little of an inbox.db that the receiver needs. */
export interface Store {
  /** One transaction, flushed to disk before it returns; one result for each. */
  store(deliveries: readonly NewDelivery[], now: number): StoreResult[];
  /** Add to the counts of what was turned away; why that was not possible, null when it was. */
  countRefusals(refusals: readonly Refusal[]): StoreFailure | null;
  /** Why the database takes no write at present; null when it does. */
  findObstacle(): StoreFailure | null;
  readonly signOfLife: SignOfLife;
  readPulse(now: number): Pulse;
  close(): void;
}

export interface StoreOptions {
  /** An inbox.db that has been migrated. */
  readonly file: string;
  readonly busyTimeoutMs: number;
}

/** 16 MB: pages that are written again and again are copied back once. */
const CHECKPOINT_PAGES = 4000;

export function openStore({ file, busyTimeoutMs }: StoreOptions): Store {
  const db = openDatabase(file, { busyTimeoutMs });
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  return { ...createStore(db), close: () => void db.close() };
}

/** The same on a connection that somebody else opened. */
export function createStore(db: Sqlite): Omit<Store, 'close'> {
  const accept = createAcceptDeliveries(db);
  const countRefusals = createCountRefusals(db);
  return {
    store: (deliveries, now) => storeGroup(accept, deliveries, now),
    countRefusals: refusals => attempt(() => countRefusals(refusals)),
    findObstacle: () => attempt(() => write(db, () => undefined)),
    signOfLife: createSignOfLife(db),
    readPulse: createPulse(db),
  };
}

function attempt(work: () => void): StoreFailure | null {
  try {
    work();
    return null;
  } catch (error) {
    return describeFailure(error);
  }
}
