import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';
import { queryBuilder } from '../../store/sql/builder.js';
import { foldSpelling } from '../../text/spelling.js';
import { buildValidAtCondition } from '../read-one.js';
import { relation } from './relation.js';

/** A condition on one column of a list. */
export type Condition<Column extends string = string> = { readonly column: Column } & (
  | { readonly is: string | number }
  | { readonly among: readonly string[] }
  /** A text that the value contains, in any case. */
  | { readonly holds: string }
  /** A word in upper or lower case, with or without hyphens, such as `ex-post` for `exPost`. */
  | { readonly word: string }
  /** A project by its id, the start of its id or a part of its name. */
  | { readonly project: string }
  | { readonly from: string; readonly to: string }
  | { readonly above: number }
  /** A condition on the retirement of a certificate. */
  | { readonly retirement: Condition }
);

/** The highest character, so that a range holds every text that starts with another. */
export const HIGHEST = '\u{10ffff}';

/** Returns the condition that a column with ids starts with a text. */
export function startsWith<const Column extends string>(column: Column, text: string): Condition<Column> {
  return { column, from: text, to: `${text}${HIGHEST}` };
}

/** Tables show at least this many characters of an id; a shorter text is more likely a part of a name. */
const SHORTEST_ID_START = 8;

/**
 * Returns the SQL of a condition on a column. A project is found by the name that it had at `instant`. If `instant` is null, the project is
 * found by its current name.
 */
export function buildCondition(condition: Condition, instant: string | null = null): Expression<SqlBool> {
  const column = sql.ref(condition.column);
  if ('is' in condition) return sql`${column} = ${condition.is}`;
  if ('among' in condition) return sql`${column} IN ${condition.among}`;
  // A literal, so that partial indexes are found.
  if ('above' in condition) return sql`${column} > ${sql.lit(condition.above)}`;
  if ('from' in condition) return sql`${column} >= ${condition.from} AND ${column} <= ${condition.to}`;
  if ('word' in condition)
    return sql`lower(replace(replace(replace(${column}, '-', ''), '_', ''), ' ', '')) = ${foldSpelling(condition.word)}`;
  if ('retirement' in condition) return buildRetirementCondition(condition.retirement, instant);
  if ('project' in condition) return buildProjectCondition(condition.project, instant);
  return buildTextCondition(column, condition.holds);
}

/** Returns the SQL condition that a column contains a text, in upper or lower case. */
function buildTextCondition(column: RawBuilder<unknown>, text: string): Expression<SqlBool> {
  const pattern = `%${lowerAscii(text).replaceAll(/[\\%_]/g, sign => `\\${sign}`)}%`;
  return sql`lower(${column}) LIKE ${pattern} ESCAPE '\\'`;
}

/** Lowers ASCII letters only, as `lower` of SQLite does. */
function lowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase());
}

/** Returns the SQL condition that the retirement of a certificate meets `condition` at the instant. The rows are certificates. */
function buildRetirementCondition(condition: Condition, instant: string | null): Expression<SqlBool> {
  const retirements = relation(instant === null ? 'retirements' : 'retirements_history');
  return sql`(organization_id, retirement_id) IN (SELECT organization_id, id FROM ${retirements}
    WHERE ${buildCondition(condition, instant)} AND ${buildValidAtCondition(instant)})`;
}

/**
 * Returns the SQL condition that a row refers to a project. `text` is the id of the project, the start of its id, or a part of its name.
 */
function buildProjectCondition(text: string, instant: string | null): Expression<SqlBool> {
  const id = text.replace(/…$/, '');
  const idCondition: Condition =
    id.length < SHORTEST_ID_START ? { column: 'project_id', is: id } : startsWith('project_id', id);
  const projects =
    instant === null
      ? queryBuilder.selectFrom('mirror.projects').select(['id', 'full_name'])
      : queryBuilder
          .selectFrom('mirror.projects_history')
          .select(['id', 'full_name'])
          .where(buildValidAtCondition(instant));
  const named = sql`SELECT id FROM ${projects} AS named WHERE ${buildTextCondition(sql.ref('full_name'), text)}`;
  return sql`(${buildCondition(idCondition)} OR ${buildTextCondition(sql.ref('project_name'), text)} OR project_id IN (${named}))`;
}
