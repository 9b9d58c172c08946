import type { Generated } from 'kysely';
import type { Column, Columns, Kind, Part, Relation } from '../../../migrations/schema.js';
import type { DATED, ENDED_IN_HISTORY, VERSION } from '../../../migrations/schema.js';
import type { EVENTS } from '../../../migrations/events/0001.js';
import type { EVIDENCE } from '../../../migrations/evidence/0001.js';
import type { TABLES as INBOX } from '../../../migrations/inbox/0001/tables.js';
import type { BALANCE } from '../../../migrations/mirror/0001/balance.js';
import type { BOOKS, CERTIFICATE_FILES } from '../../../migrations/mirror/0001/books.js';
import type { CHANGES } from '../../../migrations/mirror/0001/changes.js';
import type { OF_NOW } from '../../../migrations/mirror/0001/freshness.js';
import type { PAST, RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import type { SUMS } from '../../../migrations/mirror/0001/sums.js';
import type { ListEntry } from '../../resources/entry.js';
import type { ListResource } from '../../resources/lists.js';
import type { Attestation, LeafKind } from '../../evidence/port.js';
import type { EpochReason } from '../../events/port.js';
import type { VERDICTS } from '../../inbox/delivery.js';
import type { JOB_STATES, PARTS } from '../../inbox/job.js';
import type { ORDER_ACTIONS, ORDER_STATES } from '../../inbox/order.js';
import type { PROCESS_ROLES } from '../../inbox/process.js';
import { type Family, relationsOf } from '../migrations.js';
import type {
  CertificateState,
  COVERAGE_STATES,
  FreshnessReason,
  FreshnessState,
  InstallationState,
  SyncState,
} from './states.js';

/** The type of a cell of each kind, as every engine returns it. */
export interface CellTypes extends Record<Kind, unknown> {
  readonly id: number;
  readonly counted: number;
  readonly text: string;
  readonly int: number;
  readonly large: number | bigint;
  readonly real: number;
  readonly instant: string;
  readonly json: string;
  readonly cells: unknown;
  readonly bytes: Uint8Array;
}

type Change = 'added' | 'changed' | 'removed';
type Place = 'warehouse' | 'inventory' | 'reserved';

/** Columns whose words are a closed set. */
interface Closed {
  readonly 'installations.state': InstallationState;
  readonly 'certificates.state': CertificateState;
  readonly 'certificate_sums.state': CertificateState;
  readonly 'certificates_missing.state': CertificateState;
  readonly 'syncs.state': SyncState;
  readonly 'coverage.state': (typeof COVERAGE_STATES)[number];
  readonly 'freshness.state': FreshnessState;
  readonly 'freshness.reason': FreshnessReason;
  readonly 'changes.change': Change;
  readonly 'restatements.change': Change;
  readonly 'credit_moves.place': Place;
  readonly 'balance_credits.place': Place;
  readonly 'balance_retirements.reckoning': 'month' | 'beneficiary' | 'certificate';
  readonly 'events.subscriptions.state': 'active' | 'paused';
  readonly 'events.held_organizations.state': 'waiting' | 'paused';
  readonly 'events.held_organizations.refused_stream': 'change' | 'occurrence' | 'epoch';
  readonly 'events.epochs.reason': EpochReason;
  readonly 'evidence.leaves.kind': LeafKind;
  readonly 'evidence.attestations.kind': Attestation['kind'];
  readonly 'inbox.deliveries.verdict': (typeof VERDICTS)[number];
  readonly 'inbox.jobs.part': (typeof PARTS)[number];
  readonly 'inbox.jobs.state': (typeof JOB_STATES)[number];
  readonly 'inbox.orders.action': (typeof ORDER_ACTIONS)[number];
  readonly 'inbox.orders.state': (typeof ORDER_STATES)[number];
  readonly 'inbox.processes.role': (typeof PROCESS_ROLES)[number];
}

type Sure = `${'NOT NULL' | 'PRIMARY KEY'}${string}`;
type Word<Name extends string, C extends Column> = Name extends keyof Closed ? Closed[Name] : CellTypes[C[0]];
type Cell<Name extends string, C extends Column> = C extends
  | readonly [Kind, string, Sure]
  | readonly ['id' | 'counted', ...(readonly unknown[])]
  ? Word<Name, C>
  : Word<Name, C> | null;
type RowOf<Table extends string, C extends Columns> = {
  readonly [Name in keyof C & string]: Cell<`${Table}.${Name}`, C[Name]>;
};

type Named<R extends Relation> = R['name'] extends `mirror.${infer Table}` ? Table : R['name'];
type Made<P> = P extends Part<infer R> ? R : never;
type Single = Made<
  | (typeof INBOX | typeof BOOKS | typeof OF_NOW | typeof SUMS | typeof BALANCE)[number]
  | typeof PAST
  | typeof CHANGES
>;

type Entry = (typeof RESOURCES)[number];
type Dated<E> = E extends { readonly dated: infer Own extends Columns } ? Own : typeof DATED;
type Now<E extends Entry> = typeof VERSION & E['columns'] & Dated<E>;

/** Every table and view that readers ask, by the name that they ask it by. */
export type Tables = {
  readonly [R in Single as Named<R>]: RowOf<Named<R>, R['columns']>;
} & { readonly [E in Entry as E['table']]: RowOf<E['table'], Now<E>> } & {
  readonly [E in Entry as `${E['table']}_history`]: RowOf<E['table'], Now<E> & typeof ENDED_IN_HISTORY>;
};

/** A column for INSERT: optional if the database has a default for it. */
type WritableCell<Name extends string, C extends Column> = C extends
  | readonly ['id' | 'counted', ...(readonly unknown[])]
  | readonly [Kind, string, `${string}DEFAULT${string}`]
  ? Generated<Cell<Name, C>>
  : Cell<Name, C>;
type WritableRow<Table extends string, C extends Columns> = {
  [Name in keyof C & string]: WritableCell<`${Table}.${Name}`, C[Name]>;
};
/** Tables that only PostgreSQL has. */
type PostgresOnly = Made<typeof CERTIFICATE_FILES>;
type EvidenceTable = Made<(typeof EVIDENCE)[number]>;
type EventsTable = Made<(typeof EVENTS)[number]>;
type WithSchema<Table extends string> = Table extends `${'inbox' | 'evidence' | 'events'}.${string}`
  ? Table
  : `mirror.${Table}`;

/** The schema for Kysely: every table and view of all databases, with its schema name. */
export type Db = {
  [R in Single | EvidenceTable | EventsTable | PostgresOnly as WithSchema<Named<R>>]: WritableRow<
    Named<R>,
    R['columns']
  >;
} & {
  [E in Entry as `mirror.${E['table']}`]: WritableRow<E['table'], Now<E>>;
} & {
  [E in Entry as `mirror.${E['table']}_history`]: WritableRow<E['table'], Now<E> & typeof ENDED_IN_HISTORY>;
} & { [F in Family as `${F}.schema_migrations`]: AppliedMigration };

/** A migration that was applied, as each database records it. */
interface AppliedMigration {
  version: number;
  name: string;
  applied_at: string;
  digest: string;
}

/** A table whose rows have versions. */
export type VersionedTable = `mirror.${Entry['table']}`;
/** The table of a list of an organization. Its rows have documents. */
export type ListTable = `mirror.${Extract<Entry, { readonly resource: ListResource }>['table']}`;
type Versioned = { readonly table: string };

/** Returns the name of the table of a resource. */
export function versionedTable(entry: ListEntry<never>): ListTable;
export function versionedTable(entry: Versioned): VersionedTable;
export function versionedTable({ table }: Versioned): string {
  return `mirror.${table}`;
}

/** Returns the name of the view with all versions of a resource. */
export function historyView(entry: Versioned): `${VersionedTable}_history`;
export function historyView({ table }: Versioned): string {
  return `mirror.${table}_history`;
}

/** The columns of each of them. */
export const TABLES: Readonly<Record<string, Columns>> = Object.fromEntries(
  (['mirror', 'inbox'] as const)
    .flatMap(family => relationsOf('sqlite', family))
    .map(({ name, columns }) => [name.replace('mirror.', ''), columns]),
);

export function mayBeNull(table: string, column: string): boolean {
  const [kind, , more = ''] = TABLES[table]?.[column] ?? ['id', ''];
  return kind !== 'id' && kind !== 'counted' && !/^(?:NOT NULL|PRIMARY KEY)/.test(more);
}

export function hasColumn(table: string, column: string): boolean {
  return Object.hasOwn(TABLES[table] ?? {}, column);
}

/** A cell of any of them. */
export type Value = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, Value>>;
