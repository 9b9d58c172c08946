import { createHash } from 'node:crypto';
import { inbox0001 } from '../../migrations/inbox/0001.js';
import { mirror0001 } from '../../migrations/mirror/0001.js';
import { type Dialect, POSTGRES, SQLITE } from '../../migrations/schema.js';

export type Family = 'inbox' | 'mirror';

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Made when it is asked for: most who look want the names only. */
  readonly sql: string;
}

type Written = readonly [name: string, sqlOf: (dialect: Dialect) => string];

const DIALECTS: Readonly<Record<Dialect['engine'], Dialect>> = { sqlite: SQLITE, postgres: POSTGRES };

/** In their order: the number of each is its place. */
const WRITTEN: Readonly<Record<Family, readonly Written[]>> = {
  inbox: [['0001-inbox', inbox0001]],
  mirror: [['0001-mirror', mirror0001]],
};

export function migrationsOf(engine: Dialect['engine'], family: Family): Migration[] {
  return WRITTEN[family].map(([name, sqlOf], place) => ({
    version: place + 1,
    name,
    get sql() {
      return sqlOf(DIALECTS[engine]);
    },
  }));
}

/** What a database says of a migration that was applied. One of an earlier program has no digest. */
export interface Recorded {
  readonly version: number;
  readonly digest?: string;
}

export function digestOf({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}

/** Whether all that was applied is what this program has under the same numbers. Later numbers are not known here. */
export function areOurs(records: readonly Recorded[], migrations: readonly Migration[]): boolean {
  return migrations.every(migration =>
    records.every(({ version, digest }) => version !== migration.version || digest === digestOf(migration)),
  );
}
