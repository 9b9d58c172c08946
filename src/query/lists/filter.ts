import type { Condition } from './condition.js';
import { labelOf } from './column.js';

/** Where a page gets the values from that a visitor can choose. Null for a text field. */
type ChoiceSource =
  | { readonly from: 'names'; readonly of: 'organizations' | 'projects' | 'installations' }
  /** The distinct values of the column. Each visit of the page reads them, so only for short tables. */
  | { readonly from: 'values' }
  | null;

/** Restricts a list to some of its rows. An option of its command and a field of its page. */
export type Filter<Column extends string = string> = {
  /** The name of the option, such as `ignored` for `--ignored`. Null if only pages have the filter. */
  readonly option: string | null;
  /** Describes the option. */
  readonly description: string;
  /** The name of the field. */
  readonly label: string;
  readonly column: Column;
  readonly choicesFrom: ChoiceSource;
  /** The filter that pages show instead, if the visitor can choose its values from a list. */
  readonly replacedBy: string | null;
  /** The column of a certificate's retirement that is compared instead of `column`. */
  readonly retirementColumn?: string;
} & (
  | {
      readonly kind:
        | 'id'
        | 'substring'
        | 'project'
        | 'number'
        | 'year'
        /** A year in a text column, or a range of years. */
        | 'years'
        | 'from'
        | 'until'
        | 'organization'
        | 'installation';
    }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** A word of an open set: a known one, or one that occurs in the column. */
  | { readonly kind: 'word'; readonly known: readonly string[] }
  | { readonly kind: 'flag'; readonly where: Condition }
);

const PLAIN = { choicesFrom: null, replacedBy: null } as const;

/** Filters by an id or a number in links of pages. Commands have no such option. */
export function byId<const Column extends string>(
  column: Column,
  kind: 'id' | 'number' = 'id',
): Filter<Column> {
  return { ...PLAIN, column, kind, option: null, description: '', label: labelOf(column) };
}

/** Filters by the id of the project in links of pages, which offer the names of all projects. */
export const BY_PROJECT_ID: Filter<'project_id'> = {
  ...byId('project_id'),
  choicesFrom: { from: 'names', of: 'projects' },
};

export const BY_ORGANIZATION: Filter<'organization_id'> = {
  ...PLAIN,
  column: 'organization_id',
  kind: 'organization',
  option: 'organization',
  description: '',
  label: 'organization',
  choicesFrom: { from: 'names', of: 'organizations' },
};

export const BY_INSTALLATION: Filter<'installation_id'> = {
  ...PLAIN,
  column: 'installation_id',
  kind: 'installation',
  option: 'installation',
  description: 'only this installation (its id or its organization, or a part of either)',
  label: 'organization',
  choicesFrom: { from: 'names', of: 'installations' },
};

interface WordOptions {
  readonly known?: readonly string[];
  readonly choicesFrom?: ChoiceSource;
}

/**
 * Filters by a column whose values are words of the registry, such as a type or a status. The registry may introduce new words, so `known`
 * need not be complete.
 */
export function byWord<const Column extends string>(
  option: Column,
  { known = [], choicesFrom = null }: WordOptions = {},
): Filter<Column> {
  const example = known.slice(0, 2).join(' or ');
  const description = `only this ${option}${example === '' ? '' : `, such as ${example}`}`;
  return {
    ...PLAIN,
    column: option,
    kind: 'word',
    known,
    option,
    description,
    label: labelOf(option),
    choicesFrom,
  };
}

/** Filters by a text that the column contains, in upper or lower case. */
export function bySubstring<const Column extends string>(option: string, column: Column): Filter<Column> {
  const description = `only where the ${option} contains this text`;
  return { ...PLAIN, column, kind: 'substring', option, description, label: option };
}

/** Filters credits and retirements by their project. */
export const BY_PROJECT: Filter<'project_id'> = {
  ...PLAIN,
  column: 'project_id',
  kind: 'project',
  option: 'project',
  description: 'only this project (its id, or a part of its name)',
  label: 'project',
  replacedBy: 'project_id',
};

const VALUES = { from: 'values' } as const;

/** Filters by a text column with years: one year, or a range. */
export function byYears<const Column extends string>(
  option: Column,
  choicesFrom: ChoiceSource = null,
): Filter<Column> {
  const description = `only this ${option} or range, such as 2021, 2020.. or 2020..2027`;
  return {
    ...PLAIN,
    column: option,
    kind: 'years',
    option,
    description,
    label: labelOf(option),
    choicesFrom,
  };
}

/** For long lists, whose pages do not offer the distinct vintages. */
export const BY_VINTAGE = byYears('vintage');
export const BY_OFFERED_VINTAGE = byYears('vintage', VALUES);
export const BY_CREDIT_TYPE = byWord('type', { known: ['exPost', 'exAnte'], choicesFrom: VALUES });
export const BY_TYPE = byWord('type', { choicesFrom: VALUES });

/** Creates a filter that selects rows by the year of the date in `column`. */
export function byYear<const Column extends string>(column: Column): Filter<Column> {
  const option = 'year';
  const description = 'only this year (UTC)';
  return { ...PLAIN, column, kind: 'year', option, description, label: option, replacedBy: 'from' };
}

/** Creates two filters for the date in `column`: `from` selects rows from a day on, `until` selects rows up to the end of a day. */
export function byDays<const Column extends string>(
  column: Column,
): { readonly from: Filter<Column>; readonly until: Filter<Column> } {
  return {
    from: {
      ...PLAIN,
      column,
      kind: 'from',
      option: 'since',
      description:
        'only from this date on: a day, month, quarter, year or instant in UTC, yesterday, or 7d (7 days ago)',
      label: 'from',
    },
    until: {
      ...PLAIN,
      column,
      kind: 'until',
      option: 'until',
      description: 'only up to the end of this date',
      label: 'until',
    },
  };
}

/** Filters rows by one of several fixed values. */
export function byChoice<const Column extends string>(
  option: string,
  choices: readonly string[],
  column: Column,
  description = `only this ${option}`,
): Filter<Column> {
  return { ...PLAIN, column, kind: 'choice', choices, option, description, label: option };
}

/** Filters certificates by a date, a text or the project of their retirement. */
export function byRetirement(filter: Filter): Filter<'retirement_id'> {
  return { ...filter, column: 'retirement_id', retirementColumn: filter.column };
}

/** Filters rows by their state, which is one of several fixed values. */
export function byState<const Column extends string>(
  choices: readonly string[],
  column: Column,
): Filter<Column> {
  return byChoice('state', choices, column);
}

/** Filters rows by a fixed condition that a person switches on. */
export function byFlag<const Column extends string>(
  option: string,
  description: string,
  where: Condition<Column>,
): Filter<Column> {
  return { ...PLAIN, column: where.column, kind: 'flag', where, option, description, label: option };
}
