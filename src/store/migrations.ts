import { createHash } from 'node:crypto';
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

export const FAMILIES = ['inbox', 'mirror', 'evidence'] as const;
export type Family = (typeof FAMILIES)[number];

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Made when it is asked for: most who look want the names only. */
  readonly sql: string;
}

export type EngineName = Dialect['engine'];
type MigrationSource = readonly [name: string, made: (engine: EngineName) => Part];

const DIALECTS: Readonly<Record<EngineName, Dialect>> = { sqlite: SQLITE, postgres: POSTGRES };

/** In their order: the number of each is its place. */
const WRITTEN: Readonly<Record<Family, readonly MigrationSource[]>> = {
  inbox: [['0001-inbox', inbox0001]],
  mirror: [['0001-mirror', mirror0001]],
  evidence: [['0001-evidence', evidence0001]],
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

/** The tables and views of a database, as its migrations make them, and the types of their columns there. */
export function relationsOf(engine: EngineName, family: Family): readonly Relation[] {
  return WRITTEN[family].flatMap(([, made]) => made(engine).relations);
}

export function typeOf(engine: EngineName, kind: Kind): string {
  return DIALECTS[engine].types[kind].split(' ', kind === 'real' ? 2 : 1).join(' ');
}

/** What a database says of a migration that was applied. One of an earlier program has no digest. */
export interface AppliedMigration {
  readonly version: number;
  readonly digest?: string;
}

export function computeDigest({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}

/** What a database says of its own schema. */
export interface SchemaState {
  /** As people know it. */
  readonly where: string;
  /** 0 where it has never been migrated. */
  readonly version: number;
  readonly records: readonly AppliedMigration[];
  /** What to do with one that was made before the first release. */
  readonly aside: string;
}

/** Throws where it is not this program's. */
export function assertOwnSchema(
  { where, version, records, aside }: SchemaState,
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

/** For those who never migrate: says what to do where it is not as this program needs it. */
export function assertCurrentSchema(standing: SchemaState, migrations: readonly Migration[]): void {
  const version = assertOwnSchema(standing, migrations);
  if (version < migrations.length)
    throw new StoreError(
      'older',
      `${standing.where} has version ${version}, this program needs ${migrations.length}: run "carbon-mirror migrate" first`,
    );
}
