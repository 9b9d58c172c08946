import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { PACKAGE } from '../package.js';

export type Family = 'inbox' | 'mirror';

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Read when it is asked for: most who look want the names only. */
  readonly sql: string;
}

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/;

/** The numbered files of one folder of the package, in order. */
export function readNumbered(path: string, root: URL = PACKAGE): Migration[] {
  const folder = new URL(path, root);
  return readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .toSorted()
    .map((name, index) => {
      const version = Number(FILE_NAME.exec(name)?.[1]);
      if (version !== index + 1) {
        throw new Error(
          `${path}${name}: expected a name like ${String(index + 1).padStart(4, '0')}-what-it-adds.sql`,
        );
      }
      return {
        version,
        name,
        get sql() {
          return readFileSync(new URL(name, folder), 'utf8');
        },
      };
    });
}

/** What a database says of a file that was applied. One of an earlier program has no digest. */
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
