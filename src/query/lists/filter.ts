import type { Condition } from './condition.js';

/** Restricts a list to some of its rows. An option of its command and a field of its page. */
export type Filter = {
  /** The name of the option, such as `ignored` for `--ignored`. Null if only pages have the filter. */
  readonly option: string | null;
  /** Describes the option. */
  readonly description: string;
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
  /** A word of an open set: a known one, one of this form, or one that occurs in the column. */
  | { readonly kind: 'word'; readonly known: readonly string[]; readonly form: WordForm | null }
  | { readonly kind: 'flag'; readonly where: Condition }
);

interface WordForm {
  readonly pattern: RegExp;
  readonly example: string;
  /** For example `a year like 2021`. */
  readonly description: string;
}

/** Filters by an id or a date in links of pages. Commands have no such option. */
export function byId(column: string, kind: 'id' | 'number' | 'from' | 'until' = 'id'): Filter {
  return { column, kind, option: null, description: '' };
}

/** Filters by a word of the registry, which may introduce new words. */
export function byWord(
  option: string,
  { known = [], form = null }: { known?: readonly string[]; form?: WordForm | null } = {},
): Filter {
  const example = form?.example ?? known.slice(0, 2).join(' or ');
  const description = `only this ${option}${example === '' ? '' : `, such as ${example}`}`;
  return { column: option, kind: 'word', known, form, option, description };
}

export function byPart(option: string, column = option): Filter {
  return { column, kind: 'part', option, description: `only where the ${option} contains this text` };
}

/** Filters credits and retirements by their project. */
export const BY_PROJECT: Filter = {
  column: 'project_id',
  kind: 'project',
  option: 'project',
  description: 'only this project (its id, or a part of its name)',
};

export const BY_VINTAGE = byWord('vintage', {
  form: { pattern: /^\d{4}$/, example: '2021', description: 'a year like 2021' },
});
export const BY_CREDIT_TYPE = byWord('type', { known: ['exPost', 'exAnte'] });

export function byYear(column: string): Filter {
  return { column, kind: 'year', option: 'year', description: 'only this year (UTC)' };
}

/** Filters pages by a first and a last day. */
export function byDays(column: string): { readonly from: Filter; readonly until: Filter } {
  return { from: byId(column, 'from'), until: byId(column, 'until') };
}

export function byChoice(
  option: string,
  choices: readonly string[],
  { column = option, description = `only this ${option}` } = {},
): Filter {
  return { column, kind: 'choice', choices, option, description };
}

export function byState(choices: readonly string[], column = 'state'): Filter {
  return byChoice('state', choices, { column, description: 'only this state' });
}

export function byFlag(option: string, description: string, where: Condition): Filter {
  return { column: where.column, kind: 'flag', where, option, description };
}
