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
import type { PAST } from '../../../migrations/mirror/0001/mirrored.js';
import type { SUMS } from '../../../migrations/mirror/0001/sums.js';
import type { RESOURCES } from '../../../migrations/mirror/current.js';
import type { ListEntry } from '../../resources/entry.js';
import type { ListResource } from '../../resources/lists.js';
import type { Attestation, LeafKind } from '../../evidence/port.js';
import type { EpochReason } from '../../events/port.js';
import type { VERDICTS } from '../../inbox/delivery.js';
import type { JOB_STATES, PARTS } from '../../inbox/job.js';
import type { ORDER_ACTIONS, ORDER_STATES } from '../../inbox/order.js';
import type { PROCESS_ROLES } from '../../inbox/process.js';
import { type DatabaseName, listRelations } from '../migrations.js';
import type {
  CertificateState,
  COVERAGE_STATES,
  FreshnessReason,
  FreshnessState,
  InstallationState,
  SyncState,
} from './states.js';

/** The TypeScript type of a cell of each kind. Both engines return the same types. */
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

type ChangeKind = 'added' | 'changed' | 'removed';
type CreditList = 'warehouse' | 'inventory' | 'reserved';

/** Columns whose texts are one of a fixed set. */
interface EnumColumns {
  readonly 'installations.state': InstallationState;
  readonly 'certificates.state': CertificateState;
  readonly 'certificate_sums.state': CertificateState;
  readonly 'certificates_missing.state': CertificateState;
  readonly 'syncs.state': SyncState;
  readonly 'coverage.state': (typeof COVERAGE_STATES)[number];
  readonly 'freshness.state': FreshnessState;
  readonly 'freshness.reason': FreshnessReason;
  readonly 'changes.change': ChangeKind;
  readonly 'restatements.change': ChangeKind;
  readonly 'credit_moves.place': CreditList;
  readonly 'balance_credits.place': CreditList;
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

type NotNullConstraint = `${'NOT NULL' | 'PRIMARY KEY'}${string}`;
type CellValue<Name extends string, C extends Column> = Name extends keyof EnumColumns
  ? EnumColumns[Name]
  : CellTypes[C[0]];
type Cell<Name extends string, C extends Column> = C extends
  | readonly [Kind, string, NotNullConstraint]
  | readonly ['id' | 'counted', ...(readonly unknown[])]
  ? CellValue<Name, C>
  : CellValue<Name, C> | null;
type TableRow<Table extends string, C extends Columns> = {
  readonly [Name in keyof C & string]: Cell<`${Table}.${Name}`, C[Name]>;
};

type TableNameOf<R extends Relation> = R['name'] extends `mirror.${infer Table}` ? Table : R['name'];
type RelationsOf<P> = P extends Part<infer R> ? R : never;
type PlainRelation = RelationsOf<
  | (typeof INBOX | typeof BOOKS | typeof OF_NOW | typeof SUMS | typeof BALANCE)[number]
  | typeof PAST
  | typeof CHANGES
>;

type Entry = (typeof RESOURCES)[number];
type DateColumns<E> = E extends { readonly dated: infer Own extends Columns } ? Own : typeof DATED;
type CurrentColumns<E extends Entry> = typeof VERSION & E['columns'] & DateColumns<E>;

/** The row type of each table and view that readers query. Names of the mirror have no schema. */
export type Tables = {
  readonly [R in PlainRelation as TableNameOf<R>]: TableRow<TableNameOf<R>, R['columns']>;
} & { readonly [E in Entry as E['table']]: TableRow<E['table'], CurrentColumns<E>> } & {
  readonly [E in Entry as `${E['table']}_history`]: TableRow<
    E['table'],
    CurrentColumns<E> & typeof ENDED_IN_HISTORY
  >;
};

/** The type of a cell for INSERT: optional if the database generates it or has a default. */
type WritableCell<Name extends string, C extends Column> = C extends
  | readonly ['id' | 'counted', ...(readonly unknown[])]
  | readonly [Kind, string, `${string}DEFAULT${string}`]
  ? Generated<Cell<Name, C>>
  : Cell<Name, C>;
type WritableRow<Table extends string, C extends Columns> = {
  [Name in keyof C & string]: WritableCell<`${Table}.${Name}`, C[Name]>;
};
/** Tables that only PostgreSQL has. */
type PostgresTable = RelationsOf<typeof CERTIFICATE_FILES>;
type EvidenceTable = RelationsOf<(typeof EVIDENCE)[number]>;
type EventsTable = RelationsOf<(typeof EVENTS)[number]>;
type WithSchema<Table extends string> = Table extends `${'inbox' | 'evidence' | 'events'}.${string}`
  ? Table
  : `mirror.${Table}`;

/** The database type for Kysely: every table and view of all databases, by its name with the schema. */
export type Db = {
  [R in PlainRelation | EvidenceTable | EventsTable | PostgresTable as WithSchema<
    TableNameOf<R>
  >]: WritableRow<TableNameOf<R>, R['columns']>;
} & {
  [E in Entry as `mirror.${E['table']}`]: WritableRow<E['table'], CurrentColumns<E>>;
} & {
  [E in Entry as `mirror.${E['table']}_history`]: WritableRow<
    E['table'],
    CurrentColumns<E> & typeof ENDED_IN_HISTORY
  >;
} & { [F in DatabaseName as `${F}.schema_migrations`]: MigrationRow };

/** A row of `schema_migrations`: a migration that was applied. */
interface MigrationRow {
  version: number;
  name: string;
  applied_at: string;
  digest: string;
}

/** The name of a table whose rows have versions. */
export type VersionedTable = `mirror.${Entry['table']}`;
/** The name of the table of a list. Its rows have documents. */
export type MirrorListTable = `mirror.${Extract<Entry, { readonly resource: ListResource }>['table']}`;
type TableEntry = { readonly table: string };

/** Returns the name of the table of a resource. */
export function versionedTable(entry: ListEntry<never>): MirrorListTable;
export function versionedTable(entry: TableEntry): VersionedTable;
export function versionedTable({ table }: TableEntry): string {
  return `mirror.${table}`;
}

/** Returns the name of the view with all versions of a resource. */
export function historyView(entry: TableEntry): `${VersionedTable}_history`;
export function historyView({ table }: TableEntry): string {
  return `mirror.${table}_history`;
}

/** The columns of each table and view of `mirror` and `inbox`, by its name in `Tables`. */
export const TABLES: Readonly<Record<string, Columns>> = Object.fromEntries(
  (['mirror', 'inbox'] as const)
    .flatMap(database => listRelations('sqlite', database))
    .map(({ name, columns }) => [name.replace('mirror.', ''), columns]),
);

/** Returns whether a column may be NULL; false for an unknown column. */
export function isNullable(table: string, column: string): boolean {
  const [kind, , constraint = ''] = TABLES[table]?.[column] ?? ['id', ''];
  return kind !== 'id' && kind !== 'counted' && !/^(?:NOT NULL|PRIMARY KEY)/.test(constraint);
}

export function hasColumn(table: string, column: string): boolean {
  return Object.hasOwn(TABLES[table] ?? {}, column);
}

/** A value of a cell, as a database returns it. */
export type Value = string | number | bigint | null | Uint8Array;
/** A row with values by the names of their columns. */
export type Row = Readonly<Record<string, Value>>;
