import { sql } from 'kysely';
import type { ResourceEntry } from '../../src/resources/entry.js';
import { SQLITE } from '../../src/store/dialect.js';
import { buildInsertIntoPast } from '../../src/store/copy-to-past.js';
import { builderFor } from '../../src/store/sql/builder.js';

/** How versions end, as SQL text. */
interface VersionEndText {
  readonly validTo: string;
  readonly closedBy: string;
  readonly closedVersion: string;
  readonly isRemoved: string;
}

/** Returns SQL for SQLite that copies versions to the past. `source` is its FROM clause, which names their table `v`. */
export function copyToPastText(entry: ResourceEntry, ends: VersionEndText, source: string): string {
  const { db, fn } = builderFor(SQLITE);
  const columns = {
    validTo: sql.raw<string>(ends.validTo),
    closedBy: sql.raw<number>(ends.closedBy),
    closedVersion: sql.raw<number>(ends.closedVersion),
    isRemoved: sql.raw<number>(ends.isRemoved),
  };
  return buildInsertIntoPast(fn, entry, columns, sql.raw(source)).compile(db).sql;
}
