import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type {
  AcceptedDelivery,
  NewDelivery,
  StoredDelivery,
  DeliveryRange,
} from '../../src/inbox/delivery.js';
import type { ClaimedJob, ClaimRef, JobEnd, JobError, NewJob, JobPart } from '../../src/inbox/job.js';
import type { InboxPort, ReceiverPort } from '../../src/inbox/port.js';
import type { Tables as Contract } from '../../src/store/contract/tables.js';
import { createInboxPort } from '../../src/store/sqlite/inbox/inbox-port.js';
import { migrate } from '../../src/store/sqlite/migrate.js';
import { openDatabase, type Sqlite } from '../../src/store/sqlite/open-database.js';
import { temporaryFolder } from './folder.js';
import { createMigratedDatabase } from './migrated-databases.js';
import { type Tables, createTables } from './tables.js';

/** Noon of an arbitrary day, the usual time in tests. */
export const NOON = Date.UTC(2026, 4, 4, 12);

export { temporaryFolder };

/** Opens a real, migrated inbox.db that is closed after the test. */
export function temporaryInbox(folder: string = temporaryFolder(), busyTimeoutMs = 250): Sqlite {
  const file = join(folder, 'inbox.db');
  createMigratedDatabase(file, 'inbox');
  const db = openDatabase(file, { busyTimeoutMs });
  onTestFinished(() => {
    db.close();
  });
  migrate(db, 'inbox', new Date(NOON).toISOString());
  return db;
}

/** Creates an accepted delivery. Each has a digest of its own unless one is given. */
export function acceptedDelivery(overrides: Partial<ArrivedDelivery> = {}): ArrivedDelivery {
  return {
    receivedAt: NOON,
    event: 'warehouseTransaction',
    installationId: 'installation-1',
    organizationId: 'organization-1',
    signedData: 'e30=',
    sha256: randomBytes(32).toString('hex'),
    contradictedFields: null,
    verdict: 'accepted',
    reason: null,
    secretIndex: 0,
    ...overrides,
  };
}

type JobRow = Contract['inbox.jobs'];

/** The tables of an inbox on either engine, and the ways to open it. */
export interface InboxStore {
  readonly db: Tables;
  /** Opens a new port, which knows nothing but the tables. */
  readonly open: (now: () => number) => InboxPort;
  /** Opens the same inbox on another connection, as another process would. */
  readonly openSecondConnection: () => InboxStore;
}

/** A delivery with the instant at which it was received, in epoch ms. */
export type ArrivedDelivery = Omit<NewDelivery, 'receivedMsAgo'> & { readonly receivedAt: number };

interface TestClaimRequest {
  readonly now: number;
  readonly leaseMs: number;
  readonly slots: number;
  readonly part?: JobPart;
}

/** An inbox for tests; each call sets its clock. */
export interface TestInbox {
  readonly db: Tables;
  readonly at: (now: number) => InboxPort;
  readonly accept: Accept;
  readonly enqueue: (job: NewJob, now: number) => Promise<number>;
  readonly claim: (claiming: TestClaimRequest) => Promise<ClaimedJob[]>;
  readonly end: (held: ClaimRef, end: JobEnd, now: number) => Promise<boolean>;
  readonly finish: (held: ClaimRef, outcome: string, now: number) => Promise<boolean>;
  readonly retry: (held: ClaimRef, at: number, error: JobError, now: number) => Promise<boolean>;
  readonly pause: (held: ClaimRef, at: number, error: JobError, now: number) => Promise<boolean>;
  readonly fail: (held: ClaimRef, error: JobError, now: number) => Promise<boolean>;
  readonly giveBack: (held: ClaimRef, now: number) => Promise<boolean>;
  readonly retryFailed: (id: number, now: number) => Promise<number | null>;
  /** Rows of jobs, newest first. */
  readonly jobs: (where?: string) => Promise<JobRow[]>;
  readonly job: (id: number) => Promise<JobRow>;
}

export function openTestInbox(db: Sqlite = temporaryInbox()): TestInbox {
  return createTestInbox({ db: createTables(db), open: now => createInboxPort(db, now) });
}

/** Opens a test inbox through one port, as one process would. */
export function createTestInbox({ db, open }: Pick<InboxStore, 'db' | 'open'>): TestInbox {
  let clockMs = 0;
  const port = open(() => clockMs);
  const at = (now: number): InboxPort => {
    clockMs = now;
    return port;
  };
  const end: TestInbox['end'] = async (held, jobEnd, now) => {
    const [settled = false] = await at(now).settle([{ claim: held, end: jobEnd }]);
    return settled;
  };
  return {
    db,
    at,
    end,
    accept: createAccept(port, at),
    enqueue: async (job, now) => getOnly(await at(now).enqueue([job])),
    claim: async ({ now, leaseMs, slots, part = 'data' }) => [
      ...(await at(now).claim({ parts: [{ part, slots }], leaseMs })).jobs,
    ],
    finish: (held, outcome, now) => end(held, { act: 'done', outcome }, now),
    retry: (held, when, error, now) => end(held, { act: 'retry', delayMs: when - now, error }, now),
    pause: (held, when, error, now) => end(held, { act: 'pause', delayMs: when - now, error }, now),
    fail: (held, error, now) => end(held, { act: 'fail', error }, now),
    giveBack: (held, now) => end(held, { act: 'release', delayMs: 0, error: null }, now),
    retryFailed: async (id, now) => getOnly(await at(now).retryFailed([id])).job,
    jobs: (where = 'true') => db.rows<JobRow>(`SELECT * FROM jobs WHERE ${where} ORDER BY id DESC`),
    job: async id => getOnly(await db.rows<JobRow>('SELECT * FROM jobs WHERE id = ?', id)),
  };
}

/** Stores deliveries; throws if one of them was not stored. */
export type Accept = (deliveries: readonly ArrivedDelivery[], now: number) => Promise<StoredDelivery[]>;

/** Converts a delivery to the form in which the receiver stores it. */
export function toNewDelivery(now: number, { receivedAt, ...delivery }: ArrivedDelivery): NewDelivery {
  return { ...delivery, receivedMsAgo: now - receivedAt };
}

function createAccept(port: Pick<ReceiverPort, 'store'>, at: (now: number) => unknown): Accept {
  return async (deliveries, now) => {
    at(now);
    const results = await port.store(deliveries.map(delivery => toNewDelivery(now, delivery)));
    return results.map(result => {
      if ('failure' in result) throw new Error(result.failure.message);
      return result;
    });
  };
}

/** Reads the accepted deliveries of a range, slice by slice. */
export async function listDeliverySlices(
  { at }: TestInbox,
  whole: DeliveryRange,
): Promise<(readonly AcceptedDelivery[])[]> {
  const slices: (readonly AcceptedDelivery[])[] = [];
  for (let next: DeliveryRange | null = whole; next !== null; ) {
    const slice: Awaited<ReturnType<InboxPort['listAcceptedDeliveries']>> =
      await at(0).listAcceptedDeliveries(next);
    slices.push(slice.deliveries);
    next = slice.next;
  }
  return slices;
}

export function getOnly<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined || items.length !== 1) throw new Error(`expected one, got ${items.length}`);
  return item;
}
