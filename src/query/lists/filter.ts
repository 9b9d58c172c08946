import type { Statement } from '../../store/contract/reader.js';
import { foldSpelling } from '../../text/spelling.js';
import { plain, sql, stoodAt, table } from '../sql.js';

/** Restricts a list to some of its rows: an option of its command, a field of its page. */
export type Filter = {
  /** The option, as `ignored` for `--ignored`; null where only an address asks so. */
  readonly option: string | null;
  /** What an option says of it. */
  readonly says: string;
  readonly column: string;
} & (
  | {
      readonly kind:
        | 'id'
        | 'part'
        | 'project'
        | 'number'
        | 'year'
        | 'from'
        | 'until'
        | 'organization'
        | 'installation';
    }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** A word of an open set: a known one, one of this form, or one that the column holds. */
  | { readonly kind: 'word'; readonly known: readonly string[]; readonly form: WordForm | null }
  | { readonly kind: 'flag'; readonly where: Condition }
);

interface WordForm {
  readonly pattern: RegExp;
  readonly example: string;
  /** As in `a year like 2021`. */
  readonly description: string;
}

/** What must be true of a column. */
export type Condition = { readonly column: string } & (
  | { readonly is: string | number }
  | { readonly among: readonly string[] }
  | { readonly holds: string }
  /** The same word in any spelling. */
  | { readonly word: string }
  /** A project by its id, the beginning of its id or a part of its name. */
  | { readonly project: string }
  | { readonly from: string; readonly to: string }
  | { readonly above: number }
);

/** Filters by an id, as links of pages do. */
export function byId(column: string, kind: 'id' | 'number' | 'from' | 'until' = 'id'): Filter {
  return { column, kind, option: null, says: '' };
}

/** Filters by a word that the registry chose, and may choose anew. */
export function byWord(
  option: string,
  { known = [], form = null }: { known?: readonly string[]; form?: WordForm | null } = {},
): Filter {
  const example = form?.example ?? known.slice(0, 2).join(' or ');
  const says = `only this ${option}${example === '' ? '' : `, such as ${example}`}`;
  return { column: option, kind: 'word', known, form, option, says };
}

export function byPart(option: string, column = option): Filter {
  return { column, kind: 'part', option, says: `only where the ${option} contains this text` };
}

/** Filters credits and retirements by their project. */
export const BY_PROJECT: Filter = {
  column: 'project_id',
  kind: 'project',
  option: 'project',
  says: 'only this project (its id, or a part of its name)',
};

export const BY_VINTAGE = byWord('vintage', {
  form: { pattern: /^\d{4}$/, example: '2021', description: 'a year like 2021' },
});
export const BY_CREDIT_TYPE = byWord('type', { known: ['exPost', 'exAnte'] });

export function byYear(column: string): Filter {
  return { column, kind: 'year', option: 'year', says: 'only this year (UTC)' };
}

/** Filters from a date on, and until one, as pages ask. */
export function byDays(column: string): { readonly from: Filter; readonly until: Filter } {
  return { from: byId(column, 'from'), until: byId(column, 'until') };
}

export function byChoice(
  option: string,
  choices: readonly string[],
  { column = option, says = `only this ${option}` } = {},
): Filter {
  return { column, kind: 'choice', choices, option, says };
}

export function byState(choices: readonly string[], column = 'state'): Filter {
  return byChoice('state', choices, { column, says: 'only this state' });
}

export function byFlag(option: string, says: string, where: Condition): Filter {
  return { column: where.column, kind: 'flag', where, option, says };
}

/** Lowers ASCII letters only, as `lower` of SQLite does. */
function lowered(text: string): string {
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase());
}

/** The highest character, so that a range holds every text that begins with another. */
const HIGHEST = '\u{10ffff}';

/** Holds for every id that begins so. */
export function beginsWith(column: string, text: string): Condition {
  return { column, from: text, to: `${text}${HIGHEST}` };
}

/** Tables show at least this many characters of an id; what is shorter is more likely a part of a name. */
const SHORTEST_BEGINNING = 8;

/** The condition in SQL: of rows as they are now, or as they were at an instant. */
export function inSql(condition: Condition, at: string | null = null): Statement {
  const column = plain(condition.column);
  if ('is' in condition) return sql`${column} = ${condition.is}`;
  if ('among' in condition) return sql`${column} IN ${condition.among}`;
  if ('above' in condition) return sql`${column} > ${plain(String(condition.above))}`;
  if ('from' in condition) return sql`${column} >= ${condition.from} AND ${column} <= ${condition.to}`;
  if ('word' in condition)
    return sql`lower(replace(replace(replace(${column}, '-', ''), '_', ''), ' ', '')) = ${foldSpelling(condition.word)}`;
  if ('project' in condition) return ofProject(condition.project, at);
  const pattern = `%${lowered(condition.holds).replaceAll(/[\\%_]/g, sign => `\\${sign}`)}%`;
  return sql`lower(${column}) LIKE ${pattern} ESCAPE '\\'`;
}

function ofProject(text: string, at: string | null): Statement {
  const id = text.replace(/…$/, '');
  const isId: Condition =
    id.length < SHORTEST_BEGINNING ? { column: 'project_id', is: id } : beginsWith('project_id', id);
  const projects = at === null ? table('projects') : sql`${table('projects_history')} WHERE ${stoodAt(at)}`;
  const named = inSql({ column: 'full_name', holds: text });
  return sql`(${inSql(isId)} OR ${inSql({ column: 'project_name', holds: text })} OR project_id IN (
    SELECT id FROM (SELECT id, full_name FROM ${projects}) AS named WHERE ${named}))`;
}
