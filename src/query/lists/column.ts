/** Columns of lists: how each value is formatted, what it is called and where it links to. */

/** How a value is formatted. */
export type ColumnKind =
  | 'text'
  | 'id'
  | 'tonnes'
  | 'count'
  /** 1 or 0, for yes or no. */
  | 'flag'
  | 'state'
  /** An instant that the mirror itself recorded, such as the time of a read. */
  | 'instant'
  /** A date of the registry. */
  | 'day'
  | 'seconds'
  | 'certificate file'
  | 'credit type'
  | 'resource'
  | 'job kind';

/** The object that a value names. Its page is the detail page of a list, or the list filtered by its id. */
interface ColumnLink<Name extends string = string> {
  readonly list: string;
  /** The column with the id of the object. Pages show the name instead of the id if the list has both. */
  readonly idColumn: Name;
}

export interface ListColumn<Name extends string = string> {
  readonly name: Name;
  readonly kind: ColumnKind;
  /** In lower case, such as `observed` for `valid_from`. */
  readonly label: string;
  /** Whether a narrow terminal hides all other columns before this one. */
  readonly isImportant: boolean;
  /** Whether a narrow terminal continues long values on further lines instead of cutting them. */
  readonly isWrapped?: boolean;
  /** Whether the value identifies a row to people. Pages show it first. */
  readonly isName: boolean;
  readonly link: ColumnLink<Name> | null;
  /** Shown on pages if there is no value. */
  readonly placeholder: string | null;
}

const LABELS: Readonly<Record<string, string>> = {
  amount_exact: 'tonnes',
  full_name: 'name',
  state_now: 'state',
  seconds: 'seconds',
  size: 'bytes',
  due_at: 'next check',
  num: 'number',
  is_default: 'default',
  run_at: 'scheduled',
  seconds_left: 'time left',
  valid_from: 'observed',
  secret_index: 'index of the secret',
  reserver_name: 'reserved by',
  end: 'result',
  rows_added: 'added',
  rows_changed: 'changed',
  rows_removed: 'removed',
};

/** Returns the readable name of a database column, in lower case: `valid_from` → "observed". */
export function labelOf(column: string): string {
  return LABELS[column] ?? column.replace(/_(at|id|name)$/, '').replaceAll('_', ' ');
}

type ColumnOptions<Name extends string> = Partial<Omit<ListColumn<Name>, 'name' | 'kind'>>;

const define =
  (kind: ColumnKind) =>
  <const Name extends string>(name: Name, options: ColumnOptions<Name> = {}): ListColumn<Name> => ({
    name,
    kind,
    label: labelOf(name),
    isImportant: kind === 'tonnes',
    isName: false,
    link: null,
    placeholder: null,
    ...options,
  });

export const text = define('text');
export const id = define('id');
export const tonnes = define('tonnes');
export const count = define('count');
export const flag = define('flag');
export const state = define('state');
export const instant = define('instant');
export const day = define('day');
export const seconds = define('seconds');
export const certificateFile = define('certificate file');
export const creditType = define('credit type');
export const resourceName = define('resource');
export const jobKind = define('job kind');

/** The name of the organization that a row belongs to. */
export const ORGANIZATION_NAME = nameOf('organization_name', 'organization_id', 'organizations');
export const ORGANIZATION_ID = idOf('organization_id', 'organizations');
export const PROJECT_NAME = nameOf('project_name', 'project_id', 'projects');

/** Defines a column of names that link to the page of the object. */
function nameOf<const Name extends string, const Id extends string>(
  name: Name,
  idColumn: Id,
  list: string,
): ListColumn<Name | Id> {
  return text<Name | Id>(name, { link: { list, idColumn } });
}

/** Defines a column of ids that link to the page of the object. */
export function idOf<const Name extends string>(name: Name, list: string): ListColumn<Name> {
  return id(name, { link: { list, idColumn: name } });
}
