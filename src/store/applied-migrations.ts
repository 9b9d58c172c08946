import { type RawBuilder, sql } from 'kysely';
import type { DatabaseName } from './migrations.js';
import { insertFrom, tableRef, select, sqlStatement } from './sql/columns.js';
import { type Params, prepared } from './sql/prepared.js';

/** The version of a record that exists only while files are being moved into the database. */
export const MOVE_IN_PROGRESS = 0;

/** Selects all columns by `*`, because a database that an unreleased program created has no column of digests. */
export const LIST_APPLIED = {
  inbox: prepared(({ db }) => db.selectFrom('inbox.schema_migrations').selectAll()),
  mirror: prepared(({ db }) => db.selectFrom('mirror.schema_migrations').selectAll()),
  evidence: prepared(({ db }) => db.selectFrom('evidence.schema_migrations').selectAll()),
  events: prepared(({ db }) => db.selectFrom('events.schema_migrations').selectAll()),
} as const;

type NewMigrationRecord = {
  readonly version: number;
  readonly name: string;
  readonly appliedAt: string;
  readonly digest: string;
};

const prepareInsert = (database: DatabaseName, source: RawBuilder<unknown>) =>
  prepared(({ fn }, { version, name, appliedAt, digest }: Params<NewMigrationRecord>) => {
    const own = tableRef(`${database}.schema_migrations`);
    const insert = insertFrom(
      `${database}.schema_migrations`,
      {
        version: fn.cast('int', version),
        name: fn.cast('text', name),
        applied_at: fn.cast('instant', appliedAt),
        digest: fn.cast('text', digest),
      },
      source,
    );
    return sqlStatement`${insert} RETURNING ${select({ version: own.version })}`;
  });

export const INSERT_APPLIED = createForEach(database => prepareInsert(database, sql``));
/** Returns no row if the record exists. */
export const INSERT_MOVING = createForEach(database => prepareInsert(database, sql`ON CONFLICT DO NOTHING`));
export const DELETE_MOVING = createForEach(database =>
  prepared(() => {
    const own = tableRef(`${database}.schema_migrations`);
    return sqlStatement`DELETE FROM ${own()} WHERE ${own.version} = ${sql.lit(MOVE_IN_PROGRESS)}`;
  }),
);

/** Creates a value for each database, and returns the values by the names of the databases. */
function createForEach<T>(create: (database: DatabaseName) => T): Readonly<Record<DatabaseName, T>> {
  return {
    inbox: create('inbox'),
    mirror: create('mirror'),
    evidence: create('evidence'),
    events: create('events'),
  };
}
