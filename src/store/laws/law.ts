import { type Expression, type RawBuilder, SelectQueryNode, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import { type ConsistencyFault, summarizeFaults, MAX_SHOWN_FAULTS } from '../contract/consistency-fault.js';
import { select, sqlStatement } from '../sql/columns.js';
import type { SqlBuilder } from '../sql/builder.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared, type PreparedStatement } from '../sql/prepared.js';
import type { Batch } from '../statement.js';

/** A resource whose rows have versions. */
export type VersionedResource = (typeof RESOURCES)[number];

const DAY_MS = 86_400_000;

/** A clock that is set back by up to a day leaves rows dated in the future, which is no fault. */
type LawInstants = {
  readonly now: string;
  /** A day after `now`. */
  readonly soon: string;
};
export type LawParams = Params<LawInstants>;

/** A row that breaks a law. */
interface LawBreakRow {
  readonly found: string;
  /** The number of all rows that break the law. */
  readonly total: number;
}

/** A condition that all data must meet at any moment, whatever the registry sent. */
export interface Law {
  readonly law: string;
  /** Returns the first few rows that break the law. */
  readonly findBreaks: PreparedStatement<LawInstants, LawBreakRow>;
}

/** Called before each law is checked, with the number of laws that were checked before. */
export type LawListener = (checked: number, total: number) => void;

/** Creates a law, which is a rule for rows. The query returns a description of each row that violates it. */
export function createLaw(
  law: string,
  selectViolations: (builder: SqlBuilder, params: LawParams) => Expression<{ readonly found: string }>,
): Law {
  const findBreaks = prepared((builder, params: LawParams) => {
    const breaks = selectViolations(builder, params);
    // The builder puts parentheses around its own queries.
    const source = SelectQueryNode.is(breaks.toOperationNode()) ? sql`${breaks}` : sql`(${breaks})`;
    const found = sql.id('found');
    const row = select({ found: sql<string>`${found}`, total: sql<number>`count(*) OVER ()` });
    return sqlStatement`SELECT ${row} FROM ${source} AS breaks
      ORDER BY ${builder.fn.bytewise(sql<string>`${found}`)} LIMIT ${MAX_SHOWN_FAULTS}`;
  });
  return { law, findBreaks };
}

/** Checks laws one after the other at an instant, and returns the first few breaks of each. */
export async function checkLaws(
  laws: readonly Law[],
  {
    now,
    look,
    onLaw,
  }: { readonly now: number; readonly look: Batch; readonly onLaw?: LawListener | undefined },
): Promise<ConsistencyFault[]> {
  const instants = { now: new Date(now).toISOString(), soon: new Date(now + DAY_MS).toISOString() };
  const faults: ConsistencyFault[] = [];
  for (const [checked, { law, findBreaks }] of laws.entries()) {
    onLaw?.(checked, laws.length);
    const [rows] = await look(findBreaks(instants));
    const descriptions = rows.map(({ found }) => found);
    faults.push(...summarizeFaults(law, descriptions, rows[0]?.total));
  }
  return faults;
}

/** Joins the columns that identify a row: `organization-1, retirement-7`. */
export function describeRow(...columns: readonly RawBuilder<unknown>[]): RawBuilder<string> {
  return sql<string>`${sql.join(columns, sql` || ', ' || `)}`;
}

/** Returns the key columns of a resource, qualified by an alias if there is one. */
export function keyColumns({ key }: VersionedResource, ...alias: readonly string[]): RawBuilder<unknown>[] {
  return key.map(column => sql.id(...alias, column));
}

/** Returns an instant a day earlier. */
export function dayBefore(fn: SqlFunctions, instant: RawBuilder<string | null>): RawBuilder<string> {
  return fn.addMs(instant, sql.lit(-DAY_MS));
}

/** Returns an instant a day later. */
export function dayAfter(fn: SqlFunctions, instant: RawBuilder<string | null>): RawBuilder<string> {
  return fn.addMs(instant, sql.lit(DAY_MS));
}
