import { type RawBuilder, sql } from 'kysely';
import type { Family } from './migrations.js';
import { insertFrom, named, select, sqlStatement } from './sql/columns.js';
import { type Params, prepared } from './sql/prepared.js';

/** The version of a record that exists while files are being moved into the database. */
export const MOVE_IN_PROGRESS = 0;

/** Selects all columns, because a database of a program that was never released has no digests. */
export const LIST_APPLIED = {
  inbox: prepared(({ db }) => db.selectFrom('inbox.schema_migrations').selectAll()),
  mirror: prepared(({ db }) => db.selectFrom('mirror.schema_migrations').selectAll()),
  evidence: prepared(({ db }) => db.selectFrom('evidence.schema_migrations').selectAll()),
  events: prepared(({ db }) => db.selectFrom('events.schema_migrations').selectAll()),
} as const;

type NewRecord = {
  readonly version: number;
  readonly name: string;
  readonly appliedAt: string;
  readonly digest: string;
};

const prepareInsert = (family: Family, source: RawBuilder<unknown>) =>
  prepared(({ fn }, { version, name, appliedAt, digest }: Params<NewRecord>) => {
    const own = named(`${family}.schema_migrations`);
    const insert = insertFrom(
      `${family}.schema_migrations`,
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

export const INSERT_APPLIED = byFamily(family => prepareInsert(family, sql``));
/** Returns no row if the record exists. */
export const INSERT_MOVING = byFamily(family => prepareInsert(family, sql`ON CONFLICT DO NOTHING`));
export const DELETE_MOVING = byFamily(family =>
  prepared(() => {
    const own = named(`${family}.schema_migrations`);
    return sqlStatement`DELETE FROM ${own()} WHERE ${own.version} = ${sql.lit(MOVE_IN_PROGRESS)}`;
  }),
);

function byFamily<T>(create: (family: Family) => T): Readonly<Record<Family, T>> {
  return {
    inbox: create('inbox'),
    mirror: create('mirror'),
    evidence: create('evidence'),
    events: create('events'),
  };
}
