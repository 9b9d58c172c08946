import { createHash } from 'node:crypto';
import { events0001 } from '../../migrations/events/0001.js';
import { evidence0001 } from '../../migrations/evidence/0001.js';
import { inbox0001 } from '../../migrations/inbox/0001.js';
import { mirror0001 } from '../../migrations/mirror/0001.js';
import {
  type Dialect,
  type Kind,
  type Part,
  POSTGRES,
  type Relation,
  SQLITE,
} from '../../migrations/schema.js';
import { StoreError } from './store-error.js';

export const FAMILIES = ['inbox', 'mirror', 'evidence', 'events'] as const;
export type Family = (typeof FAMILIES)[number];

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Built when read, because most callers need only the name. */
  readonly sql: string;
}

export type EngineName = Dialect['engine'];
type MigrationSource = readonly [name: string, made: (engine: EngineName) => Part];

const DIALECTS: Readonly<Record<EngineName, Dialect>> = { sqlite: SQLITE, postgres: POSTGRES };

/** Migrations in order. The position is the version. */
const WRITTEN: Readonly<Record<Family, readonly MigrationSource[]>> = {
  inbox: [['0001-inbox', inbox0001]],
  mirror: [['0001-mirror', mirror0001]],
  evidence: [['0001-evidence', evidence0001]],
  events: [['0001-events', events0001]],
};

export function migrationsOf(engine: EngineName, family: Family): Migration[] {
  return WRITTEN[family].map(([name, made], place) => ({
    version: place + 1,
    name,
    get sql() {
      return made(engine).textOf(DIALECTS[engine]);
    },
  }));
}

/** Returns the tables and views that the migrations of a database create, with their column types. */
export function relationsOf(engine: EngineName, family: Family): readonly Relation[] {
  return WRITTEN[family].flatMap(([, made]) => made(engine).relations);
}

export function typeOf(engine: EngineName, kind: Kind): string {
  return DIALECTS[engine].dataTypes[kind];
}

/** A migration that a database records as applied. Unreleased programs recorded no digest. */
export interface AppliedMigration {
  readonly version: number;
  readonly digest?: string;
}

export function computeDigest({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}

/** The applied migrations of a database. */
export interface SchemaState {
  /** The database as messages name it, such as `the schema mirror`. */
  readonly label: string;
  /** 0 if it was never migrated. */
  readonly version: number;
  readonly records: readonly AppliedMigration[];
  /** What to do with a database that an unreleased program created. */
  readonly advice: string;
}

/** Returns the version of the schema. Throws if another program made it, or a newer version of this one. */
export function assertOwnSchema(
  { label: where, version, records, advice: aside }: SchemaState,
  migrations: readonly Migration[],
): number {
  const isOther = (migration: Migration) =>
    records.some(
      ({ version: applied, digest }) => applied === migration.version && digest !== computeDigest(migration),
    );
  if (migrations.some(isOther))
    throw new StoreError(
      'earlier',
      `${where} was made by an earlier carbon-mirror that was never released: ${aside}`,
    );
  if (version <= migrations.length) return version;
  throw new StoreError(
    'newer',
    `${where} has version ${version}, but this program knows only ${migrations.length}: it was written by a newer ` +
      'carbon-mirror. Start that version, or restore a backup made before it.',
  );
}

/** Throws unless the schema is that of this program. For processes that never migrate. */
export function assertCurrentSchema(standing: SchemaState, migrations: readonly Migration[]): void {
  const version = assertOwnSchema(standing, migrations);
  if (version < migrations.length)
    throw new StoreError(
      'older',
      `${standing.label} has version ${version}, this program needs ${migrations.length}: run "carbon-mirror migrate" first`,
    );
}
