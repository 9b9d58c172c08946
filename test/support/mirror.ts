import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { migrate } from '../../src/store/sqlite/migrate.js';
import { openDatabase, type Sqlite } from '../../src/store/sqlite/open.js';
import { createCertificateFolder } from '../../src/store/sqlite/certificates/folder.js';
import { createMirrorPort } from '../../src/store/sqlite/mirror/mirror.js';
import { createMirror } from '../../src/mirror/create-mirror.js';
import type {
  FindMissing,
  ReadResult,
  ListReader,
  Mirror,
  ReadPage,
  ReadRequest,
} from '../../src/mirror/mirror.js';
import type { PdfStore } from '../../src/mirror/pdf-store.js';
import type { MirrorPort } from '../../src/mirror/port.js';
import type { ListItems, ListResource } from '../../src/resources/lists.js';
import type { Amount, Credit, Installation, Retirement } from '../../src/registry/model.js';
import { NOON, temporaryFolder } from './inbox.js';
import { layMigrated } from './migrated.js';
import { type Tables, tablesOf } from './tables.js';

/** A real, migrated mirror.db that goes away with its test. */
export function temporaryMirror(folder: string = temporaryFolder()): Sqlite {
  const file = join(folder, 'mirror.db');
  layMigrated(file, 'mirror');
  const db = openDatabase(file, { busyTimeoutMs: 1_000 });
  onTestFinished(() => {
    db.close();
  });
  migrate(db, 'mirror', new Date(NOON).toISOString());
  return db;
}

/** A client's view of time: it moves only when it is told to. */
export interface Clock {
  at: number;
}

export const MINUTE = 60_000;

export function amount(exact: string): Amount {
  const [tonnes = '0', rest = ''] = exact.split('.');
  const micro = rest.length <= 6 ? BigInt(tonnes) * 1_000_000n + BigInt(rest.padEnd(6, '0')) : null;
  return { exact, value: Number(exact), micro, fault: null };
}

/** As the registry sends it: an amount with its own digits. */
function documentOf(item: { readonly amount: Amount }): string {
  return JSON.stringify({ ...item, amount: null }).replace('"amount":null', `"amount":${item.amount.exact}`);
}

export function retirement(id: string, overrides: Partial<Retirement> = {}): Retirement {
  const item = {
    id,
    organizationId: 'organization-1',
    project: { id: 'project-1', fullName: 'Peat bog' },
    serialization: 'ICR-ISL-354-1-14-R-0-2021',
    vintage: '2021',
    amount: amount('12.5'),
    reason: 'Voluntary purposes',
    beneficiary: 'Harbour Ferries',
    comment: null,
    isClaimed: true,
    createdAt: '2026-03-01T10:00:00.000Z',
    ...overrides,
  };
  return { ...item, document: overrides.document ?? documentOf(item) };
}

export function retirements(count: number, prefix = 'r'): Retirement[] {
  return Array.from({ length: count }, (_, index) =>
    retirement(`${prefix}-${String(index).padStart(5, '0')}`),
  );
}

export function credit(creditId: string, overrides: Partial<Credit> = {}): Credit {
  const item = {
    creditId,
    inventoryId: null,
    organizationId: 'organization-1',
    project: { id: 'project-1', fullName: 'Peat bog' },
    serialization: 'ICR-ISL-354-1-14-R-0-2021',
    vintage: null,
    type: 'exPost',
    tokenId: null,
    tokenAddress: null,
    unit: null,
    amount: amount('100'),
    supply: null,
    ...overrides,
  };
  return { ...item, document: overrides.document ?? documentOf(item) };
}

export function installation(id: string, overrides: Partial<Installation> = {}): Installation {
  const item = {
    id,
    appId: 'app-1',
    organizationId: 'organization-1',
    organization: null,
    permissions: { organization_info: 'VIEW', organization_warehouse: 'WRITE' },
    createdAt: null,
    updatedAt: null,
    ...overrides,
  };
  return { ...item, document: overrides.document ?? JSON.stringify(item) };
}

/** What makes a mirror of a connection. Certificates stand beside the database. */
export type MirrorMaker = (db: Sqlite, now: () => number) => Mirror;

const makeMirror: MirrorMaker = (db, now) => createMirror(portOf(db), now);

function portOf(db: Sqlite): MirrorPort {
  return createMirrorPort(db, join(dirname(db.name), 'certificates'));
}

export interface Scene {
  /** Where the mirror stands, its certificates in a folder of it. */
  readonly folder: string;
  readonly db: Tables;
  /** The connection that writes, for tests of the engine. */
  readonly handle: Sqlite;
  readonly port: MirrorPort;
  /** Where its certificates are kept. */
  readonly pdfs: (maxBytes: number) => PdfStore;
  readonly mirror: Mirror;
  readonly clock: Clock;
  /** Reads one whole list by the newest claim: pages of `limit`, or one answer where it is null. */
  readonly read: <Name extends ListResource>(
    resource: Name,
    items: readonly ListItems[Name][],
    how?: Partial<ReadRequest<Name>> & {
      limit?: number | null;
      total?: number | null;
      ask?: (ids: readonly string[]) => Promise<readonly string[]>;
    },
  ) => Promise<ReadResult>;
}

export const TRAFFIC = { requests: 1, bytes: 100 };
const TRIGGER = 'delivery';

/** A mirror with one active installation, and a clock at noon. */
export async function temporaryScene({
  folder = temporaryFolder(),
  create = makeMirror,
}: {
  folder?: string;
  create?: MirrorMaker;
} = {}): Promise<Scene> {
  const db = temporaryMirror(folder);
  const clock = { at: NOON };
  const mirror = create(db, () => clock.at);
  await activate(mirror, clock);
  return {
    folder,
    db: tablesOf(db),
    handle: db,
    port: portOf(db),
    pdfs: maxBytes =>
      createCertificateFolder(join(folder, 'certificates'), { now: () => clock.at, maxBytes }),
    mirror,
    clock,
    read: readerOf(mirror, clock),
  };
}

/** So many organizations, the first with one credit, each other with one more; the list of the tenth cannot be read any more. */
export async function fill(
  { mirror, clock, read, db }: Pick<Scene, 'mirror' | 'clock' | 'read' | 'db'>,
  organizations: number,
): Promise<void> {
  for (let n = 1; n <= organizations; n++) {
    const organizationId = `organization-${n}`;
    const { at } = clock;
    const written = { state: 'active', claim: 1, startedAt: at, arrivedAt: at, trigger: TRIGGER } as const;
    await mirror.writeInstallation({
      ...written,
      installation: installation(`installation-${n}`, { organizationId }),
    });
    const credits = Array.from({ length: n }, (_, index) => credit(`c-${n}-${index}`, { organizationId }));
    await read('warehouse', credits, { organizationId });
  }
  await db.change(
    "UPDATE resource_states SET outcome = 'failed', error = 'answered 503', failing_since = '2026-11-01T00:00:00.000Z', webhook_failed = 1 WHERE organization_id = 'organization-10'",
  );
}

/** One installation of the first organization. */
export async function activate(mirror: Mirror, clock: Clock): Promise<void> {
  await mirror.writeInstallation({
    installation: installation('installation-1'),
    state: 'active',
    claim: 1,
    startedAt: clock.at,
    arrivedAt: clock.at,
    trigger: TRIGGER,
  });
}

/** Begins a read of the first organization by the newest claim. */
export async function beginRead<Name extends ListResource>(
  { mirror, clock }: Pick<Scene, 'mirror' | 'clock'>,
  resource: Name,
  how: Partial<ReadRequest<Name>> = {},
): Promise<ListReader<ListItems[Name]>> {
  const usual = {
    organizationId: 'organization-1',
    claim: 1,
    startedAt: clock.at,
    trigger: TRIGGER,
  } as const;
  return await mirror.beginRead({ ...usual, resource, ...how });
}

export function readerOf(mirror: Mirror, clock: Clock): Scene['read'] {
  return async (resource, items, { limit = null, total, ask, ...request } = {}) => {
    const read = await beginRead({ mirror, clock }, resource, request);
    if (limit === null) await read.writeBatch(items, clock.at);
    else await writePages(read, items, limit, clock);
    return read.finish({ ...TRAFFIC, total: total ?? null, ...(ask && { ask: answering(ask, clock) }) });
  };
}

interface Row {
  readonly id?: string;
  readonly document: string;
}

async function writePages<Item extends Row>(
  read: ListReader<Item>,
  items: readonly Item[],
  limit: number,
  clock: Clock,
): Promise<void> {
  for (let page = 0; page === 0 || page * limit < items.length; page += 1) {
    const some = items.slice(page * limit, (page + 1) * limit);
    await read.writePage(pageOf(some, clock.at));
  }
}

/** A page that holds one group, which nobody knows. */
export function pageOf<Item extends Row>(items: readonly Item[], arrivedAt: number): ReadPage<Item> {
  const unknown = [groupOf(items)];
  const digest = createHash('sha256').update(digestOf(items)).digest('hex');
  return { digest, isKnown: false, known: [], unknown, items, arrivedAt };
}

/** The same page, told as one that stands as it stood. */
export function knownPageOf<Item extends Row>(items: readonly Item[], arrivedAt: number): ReadPage<Item> {
  return { ...pageOf(items, arrivedAt), isKnown: true, unknown: [], items: [] };
}

export function groupOf(items: readonly Row[]) {
  return { digest: digestOf(items), ids: items.map(({ id = '' }) => id) };
}

/** Equal for equal rows in equal order. */
export function digestOf(items: readonly Row[]): string {
  return createHash('sha256')
    .update(items.map(({ document }) => document).join())
    .digest('hex');
}

/** A registry that says at once which of the ids it does not know any more. */
export function answering(
  gone: (ids: readonly string[]) => Promise<readonly string[]>,
  clock: Clock,
): FindMissing {
  return async ids => new Map((await gone(ids)).map(id => [id, clock.at]));
}
