/** Defines lists. The compiler checks the names of their columns against the tables. */
import { hasColumn, type Tables, TABLES } from '../../store/contract/tables.js';
import {
  findOwnerColumn,
  getIdColumn,
  OWNER_NAME_COLUMN,
  type ResourceEntry,
  type SortOrder,
} from '../../resources/entry.js';
import type { Resource } from '../../resources/lists.js';
import { ENTRY_BY_RESOURCE, isResource } from '../../resources/resources.js';
import { instant, type ListColumn } from './column.js';
import type { Condition } from './condition.js';
import { BY_ORGANIZATION, BY_PROJECT_ID, byId, type Filter } from './filter.js';
import type { AmountKind, List, ListSort, Refine } from './list-type.js';

type TableName = keyof Tables;
/** A column of a table, or the name of the organization, which only its own table has. */
type ColumnOf<Table extends TableName> = (keyof Tables[Table] & string) | typeof OWNER_NAME_COLUMN;

type Names = Pick<List, 'name' | 'singular' | 'summary'> & Partial<Pick<List, 'plural' | 'title' | 'empty'>>;

interface ListDefinition<Table extends TableName, Computed extends string = never> extends Names {
  readonly from: Table;
  readonly columns: readonly ListColumn<ColumnOf<Table> | NoInfer<Computed>>[];
  readonly order?: readonly (readonly [column: keyof Tables[Table] & string, direction: 'asc' | 'desc'])[];
  readonly filters?: Readonly<Record<string, Filter<ColumnOf<Table>>>>;
  readonly isIndexed?: boolean;
  /** The words for the order and its reverse, and the column whose heading offers them on pages. Needs an index. */
  readonly sortWords?: SortWords<ColumnOf<Table> | NoInfer<Computed>>;
  readonly isOffer?: boolean;
  readonly holds?: Condition<ColumnOf<Table>>;
  readonly isPersonal?: boolean;
  readonly detailList?: string;
  readonly readCaveats?: List['readCaveats'];
}

interface SortWords<Name extends string> {
  readonly column: Name;
  readonly forward: string;
  readonly backward: string;
}

/** Columns that are computed from the columns of a table. */
interface ComputedColumns<Name extends string> {
  readonly columns: readonly Name[];
  readonly compute: Refine;
}

interface MirroredDefinition<Table extends TableName, History extends TableName, Computed extends string>
  extends ListDefinition<Table, Computed> {
  readonly computed?: ComputedColumns<Computed>;
  readonly entry: ResourceEntry;
  readonly history: History;
  /** The columns of a past instant, if they differ from the current columns. */
  readonly pastColumns?: readonly ListColumn<ColumnOf<History> | NoInfer<Computed>>[];
}

/** Defines a list whose rows are copied from the registry: its columns, filters, order and history. */
export function defineMirroredList<
  Table extends TableName,
  History extends TableName,
  Computed extends string = never,
>(definition: MirroredDefinition<Table, History, Computed>): List {
  const {
    computed = null,
    entry,
    columns,
    history,
    pastColumns = columns,
    filters,
    order = [],
    sortWords = null,
    ...options
  } = definition;
  const wholeOrder = addUniqueColumn(order, 'version');
  const resource =
    Object.keys(ENTRY_BY_RESOURCE)
      .filter(isResource)
      .find(each => ENTRY_BY_RESOURCE[each] === entry) ?? null;
  const { name, from, plural = name } = options;
  const idColumn = getIdColumn(entry);
  const hasValidFrom = pastColumns.some(column => column.name === VALID_FROM.name);
  const past: readonly ListColumn[] = hasValidFrom ? pastColumns : [...pastColumns, VALID_FROM];
  const computedNames: readonly string[] = computed?.columns ?? [];
  const namesRead = (all: readonly ListColumn[]) =>
    all.map(column => column.name).filter(each => !computedNames.includes(each));
  return {
    ...defineCommonFields(options, columns),
    reads: namesRead(columns),
    refine: computed?.compute ?? null,
    empty: `The mirror has no ${plural}. See "carbon-mirror status" for what was read.`,
    filters: {
      [idColumn]: byId(idColumn),
      // Projects belong to no organization. Their filter finds those that rows of the organization refer to.
      organization_id: { ...BY_ORGANIZATION, column: findOwnerColumn(entry) ?? BY_ORGANIZATION.column },
      ...(idColumn !== 'project_id' && hasColumn(from, 'project_id') && { project_id: BY_PROJECT_ID }),
      ...filters,
    },
    order: wholeOrder,
    sorts: listSorts(wholeOrder, sortWords),
    idColumn,
    entry,
    resource,
    past: { from: history, columns: past, reads: namesRead(past) },
  };
}

const VALID_FROM = instant('valid_from');

interface OwnDefinition<Table extends TableName, Computed extends string>
  extends ListDefinition<Table, Computed> {
  readonly plural: string;
  readonly empty: string;
  /** The column that numbers the rows, if it is not `id`. */
  readonly idColumn?: keyof Tables[Table] & string;
  /** The list of the registry that the rows are computed from. Its coverage and freshness are those of the rows. */
  readonly resource?: Resource;
  readonly computed?: ComputedColumns<Computed>;
}

/** The counter of changes when a sync ended, which people do not need. */
const COUNTER = 'changes_up_to';

/** Defines a list whose rows the program itself makes, such as its jobs. The newest row comes first. */
export function defineOwnList<Table extends TableName, Computed extends string = never>(
  definition: OwnDefinition<Table, Computed>,
): List {
  const {
    columns,
    computed = null,
    filters = {},
    idColumn = 'id',
    sortWords = null,
    ...options
  } = definition;
  const { order = [[idColumn, 'desc']], isIndexed = true, resource = null } = definition;
  const stored = Object.keys(TABLES[options.from] ?? {}).filter(name => name !== COUNTER);
  const list = defineCommonFields(options, columns);
  return {
    ...list,
    empty: options.empty,
    reads: list.reads.includes(OWNER_NAME_COLUMN) ? [...stored, OWNER_NAME_COLUMN] : stored,
    refine: computed?.compute ?? null,
    filters,
    order,
    sorts: listSorts(order, sortWords),
    isIndexed,
    idColumn,
    entry: null,
    resource,
    past: null,
  };
}

/** Returns the fields that both kinds of lists have: those copied from the registry, and those that the program itself makes. */
function defineCommonFields(
  definition: Names &
    Partial<Pick<List, 'isIndexed' | 'isOffer' | 'holds' | 'isPersonal' | 'detailList' | 'readCaveats'>> & {
      readonly from: string;
    },
  columns: readonly ListColumn[],
) {
  const { name, from } = definition;
  return {
    title: `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`,
    plural: name,
    refine: null,
    isIndexed: false,
    isOffer: false,
    holds: null,
    isPersonal: false,
    detailList: null,
    readCaveats: null,
    ...definition,
    columns,
    reads: columns.map(column => column.name),
    amounts: getAmountKind(from),
  };
}

/**
 * Returns which amounts the rows of a table have: `none`, tonnes with one total (`of one type`), or tonnes with a total for each credit
 * type (`by type`).
 */
function getAmountKind(table: string): AmountKind {
  if (!hasColumn(table, 'amount_micro')) return 'none';
  return hasColumn(table, 'type') ? 'by type' : 'of one type';
}

/**
 * Returns the sort orders that a visitor can choose: the order of the list and its reverse. Returns an empty array if `words` is null: the
 * list then has no words for `?sort=`.
 */
function listSorts(order: SortOrder, words: SortWords<string> | null): ListSort[] {
  if (words === null) return [];
  const { column, forward, backward } = words;
  return [
    { name: forward, column, order },
    { name: backward, column, order: order.map(([name, way]) => [name, way === 'asc' ? 'desc' : 'asc']) },
  ];
}

/** Adds a unique column at the end of a sort order, so that no two rows are equal in it. The sort direction is that of the last column. */
function addUniqueColumn(order: SortOrder, column: string): SortOrder {
  const last = order.at(-1);
  return last === undefined || last[0] === column ? order : [...order, [column, last[1]]];
}
