import type { Statement } from '../../store/contract/reader.js';
import { plain, sql } from '../sql.js';

/** What leaves only some rows of a list: an option of its command, a field of its page. */
export type Filter = {
  /** The option, as `ignored` for `--ignored`; null where only an address asks so. */
  readonly option: string | null;
  /** What an option says of it. */
  readonly says: string;
  readonly column: string;
} & (
  | {
      readonly fits: 'text' | 'part' | 'number' | 'year' | 'from' | 'until' | 'organization' | 'installation';
    }
  | { readonly fits: 'choice'; readonly choices: readonly string[] }
  | { readonly fits: 'flag'; readonly where: Condition }
);

/** What a column is, or one of what it is, or what its text holds, from what to what it is, or what it is more than. */
export type Condition = { readonly column: string } & (
  | { readonly is: string | number }
  | { readonly among: readonly string[] }
  | { readonly holds: string }
  | { readonly from: string; readonly to: string }
  | { readonly above: number }
);

/** By an id of something, as pages lead to it. */
export function byId(column: string, fits: 'text' | 'number' | 'from' | 'until' = 'text'): Filter {
  return { column, fits, option: null, says: '' };
}

export function byText(column: string): Filter {
  return { column, fits: 'text', option: column, says: `of one ${column} only` };
}

export function byPart(option: string, column = option): Filter {
  return { column, fits: 'part', option, says: `only where the ${option} contains this text` };
}

export function byYear(column: string): Filter {
  return { column, fits: 'year', option: 'year', says: 'of one year only, in UTC' };
}

/** From a day on, and until one, as pages ask. */
export function byDays(column: string): { readonly from: Filter; readonly until: Filter } {
  return { from: byId(column, 'from'), until: byId(column, 'until') };
}

export function byChoice(
  option: string,
  choices: readonly string[],
  { column = option, says = `of one ${option} only` } = {},
): Filter {
  return { column, fits: 'choice', choices, option, says };
}

export function byState(choices: readonly string[], column = 'state'): Filter {
  return byChoice('state', choices, { column, says: 'in one state only' });
}

export function byFlag(option: string, says: string, where: Condition): Filter {
  return { column: where.column, fits: 'flag', where, option, says };
}

const MORNING = 'T00:00:00.000Z';
const EVENING = 'T23:59:59.999Z';
const FIRST = `0000-01-01${MORNING}`;
const LAST = `9999-12-31${EVENING}`;
/** No engine takes a pattern of any length. */
const LONGEST = 10_000;

/** What is asked by a filter in the words of a person, or why that cannot be. */
export function conditionOf(filter: Filter, text: string): Condition | { readonly fault: string } {
  const { column, fits } = filter;
  if (fits === 'flag') return filter.where;
  if (fits === 'part')
    return text.length > LONGEST
      ? expected(`at most ${LONGEST} characters`, `${text.slice(0, 20)}…`)
      : { column, holds: text };
  if (fits === 'number')
    return /^\d{1,15}$/.test(text) ? { column, is: Number(text) } : expected('a number', text);
  if (fits === 'year') {
    if (!/^\d{4}$/.test(text)) return expected('a year like 2025', text);
    return { column, from: `${text}-01-01${MORNING}`, to: `${text}-12-31${EVENING}` };
  }
  if (fits === 'from' || fits === 'until') {
    const day = new Date(`${text}T00:00:00.000Z`);
    if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text)
      return expected('a day like 2025-05-29', text);
    const isFrom = fits === 'from';
    return { column, from: isFrom ? `${text}${MORNING}` : FIRST, to: isFrom ? LAST : `${text}${EVENING}` };
  }
  if (fits === 'choice' && !filter.choices.includes(text))
    return expected(`one of ${filter.choices.join(', ')}`, text);
  return { column, is: text };
}

function expected(what: string, text: string) {
  return { fault: `Expected ${what}, got "${text}".` };
}

/** As every engine's `lower` has text that is kept: of all letters those of ASCII. What is asked for may be lowered otherwise. */
function lowered(text: string): string {
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase());
}

export function inSql(condition: Condition): Statement {
  const column = plain(condition.column);
  if ('is' in condition) return sql`${column} = ${condition.is}`;
  if ('among' in condition) return sql`${column} IN ${condition.among}`;
  if ('above' in condition) return sql`${column} > ${plain(String(condition.above))}`;
  if ('from' in condition) return sql`${column} >= ${condition.from} AND ${column} <= ${condition.to}`;
  const pattern = `%${lowered(condition.holds).replaceAll(/[\\%_]/g, sign => `\\${sign}`)}%`;
  return sql`lower(${column}) LIKE ${pattern} ESCAPE '\\'`;
}
