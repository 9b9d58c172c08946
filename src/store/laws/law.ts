import { type Expression, type RawBuilder, SelectQueryNode, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/current.js';
import { type ConsistencyFault, summarizeFaults, MAX_SHOWN_FAULTS } from '../contract/finding.js';
import { select, sqlStatement } from '../sql/columns.js';
import type { SqlBuilder } from '../sql/builder.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared, type PreparedStatement } from '../sql/prepared.js';
import type { RunBatch } from '../statement.js';

/** A resource whose rows have versions. */
export type VersionedResource = (typeof RESOURCES)[number];

const DAY_MS = 86_400_000;

type LawInstants = {
  readonly now: string;
  /** A day after `now`. Rows dated up to then are allowed, because a clock may have been set back by as much. */
  readonly soon: string;
};
export type LawParams = Params<LawInstants>;

/** A row that violates a law. */
interface ViolationRow {
  /** Describes the row. */
  readonly violation: string;
  /** The number of all rows that violate the law. */
  readonly total: number;
}

/** A data law: a rule that the rows of the database must fulfil at any moment, whatever the registry sent. */
export interface Law {
  /** The rule as a sentence. */
  readonly rule: string;
  /** Returns the first few violations. */
  readonly findViolations: PreparedStatement<LawInstants, ViolationRow>;
}

/** Called before each law is checked, with the number of laws that are already checked. */
export type LawListener = (checked: number, total: number) => void;

/**
 * Creates a data law: a rule that all rows must fulfil. `rule` is a sentence, and `selectViolations` builds the query that describes
 * each row that violates it.
 */
export function createLaw(
  rule: string,
  selectViolations: (builder: SqlBuilder, params: LawParams) => Expression<{ readonly violation: string }>,
): Law {
  const findViolations = prepared((builder, params: LawParams) => {
    const query = selectViolations(builder, params);
    // The builder puts parentheses around its own queries.
    const source = SelectQueryNode.is(query.toOperationNode()) ? sql`${query}` : sql`(${query})`;
    const violation = sql.id('violation');
    const row = select({ violation: sql<string>`${violation}`, total: sql<number>`count(*) OVER ()` });
    return sqlStatement`SELECT ${row} FROM ${source} AS violations
      ORDER BY ${builder.fn.bytewise(sql<string>`${violation}`)} LIMIT ${MAX_SHOWN_FAULTS}`;
  });
  return { rule, findViolations };
}

/** Checks data laws one after the other, and calls `onLaw` before each. Returns the first few violations of each law. */
export async function checkLaws(
  laws: readonly Law[],
  {
    now,
    read,
    onLaw,
  }: { readonly now: number; readonly read: RunBatch; readonly onLaw?: LawListener | undefined },
): Promise<ConsistencyFault[]> {
  const instants = { now: new Date(now).toISOString(), soon: new Date(now + DAY_MS).toISOString() };
  const faults: ConsistencyFault[] = [];
  for (const [checked, { rule, findViolations }] of laws.entries()) {
    onLaw?.(checked, laws.length);
    const [rows] = await read(findViolations(instants));
    const descriptions = rows.map(({ violation }) => violation);
    faults.push(...summarizeFaults(rule, descriptions, rows[0]?.total));
  }
  return faults;
}

/** Describes a row by the columns that identify it, such as `organization-1, retirement-7`. */
export function describeRow(...columns: readonly RawBuilder<unknown>[]): RawBuilder<string> {
  return sql<string>`${sql.join(columns, sql` || ', ' || `)}`;
}

/** Returns the key columns of a resource, qualified by the alias if one is given. */
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
