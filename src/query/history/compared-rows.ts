/** Reads the rows of a list that differ between two instants. The database finds them: only differing rows are returned. */
import { type RawBuilder, sql } from 'kysely';
import { findOwnerColumn, listKeyColumns, OWNER_NAME_COLUMN } from '../../resources/entry.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Row, Value } from '../../store/contract/tables.js';
import { SelectList, select, sqlStatement } from '../../store/sql/columns.js';
import { type ChangedColumn, listChangedColumns } from '../../text/describe-change.js';
import { formatPlainTonnes } from '../../text/tonnes.js';
import { id, type ListColumn, state, text, tonnes } from '../lists/column.js';
import type { List } from '../lists/list-type.js';
import { matchingRows } from '../lists/matching-rows.js';
import { ALL_COLUMNS, relation } from '../lists/relation.js';
import { chunkRows } from '../lists/read-rows.js';
import { buildValidAtCondition } from '../read-one.js';
import { toExactSum } from '../sums.js';
import { formatChangedFields, type RestatedFieldCells } from './restated-fields.js';

/** How a row differs between two instants, in the order in which rows are shown. */
export type Difference = 'added' | 'changed' | 'removed';

/** The rows of a list at two instants. */
export interface ComparedSelection {
  /** The list with the columns of its history. */
  readonly list: List;
  readonly organizationIds: readonly string[];
  readonly from: string;
  readonly to: string;
}

export interface ComparedRange {
  /** Null for all rows. */
  readonly limit: number | null;
  /** The sort values of the last row of the previous page. Null for the first page. */
  readonly after: readonly Value[] | null;
}

/** Columns that the mirror adds to the rows of the registry. A row that differs only in these is not changed. */
const BOOKKEEPING_COLUMNS = ['checked_at', 'due_at', 'attempts', 'error', 'retirement_version'];
/** Columns that have the value of `amount_exact` in another form. */
const AMOUNT_FORMS = ['amount', 'amount_micro'];
/** The column with the registry's JSON. */
const DOCUMENT = 'document';

/** Returns the columns of the rows of a comparison. Those that identify a row come last. */
export function listComparisonColumns(list: List): readonly ListColumn[] {
  const shown = list.columns
    .filter(({ name }) => name !== 'valid_from')
    .flatMap(column => (column.name === 'amount_exact' && list.amounts !== 'none' ? AMOUNT_COLUMNS : column));
  const otherKeys = listKeys(list).filter(key => !shown.some(({ name }) => name === key));
  return [
    state('change', { isImportant: true }),
    // The name of a row tells added ones apart.
    ...shown
      .filter(({ kind }) => kind !== 'id')
      .map(column => ({ ...column, isImportant: isImportantInComparison(column) })),
    text('fields', { isImportant: true }),
    text('old_values', { label: 'before', isImportant: true }),
    text('new_values', { label: 'after', isImportant: true }),
    ...shown.filter(({ kind }) => kind === 'id'),
    ...otherKeys.map(key => id(key)),
  ];
}

/** Whether a narrow terminal keeps a column: names and amounts do, but a date would take the place of the value after the change. */
function isImportantInComparison({ name, isName, isImportant }: ListColumn): boolean {
  return isName || (isImportant && name !== DATE);
}

const AMOUNT_COLUMNS = [
  tonnes('amount_before', { label: 'tonnes before', isImportant: false }),
  tonnes('amount_after', { label: 'tonnes after', isImportant: false }),
  tonnes('difference', { label: 'difference' }),
];

/** The column with the registry's date of a row, and the one by which rows are sorted, which is never empty. */
const DATE = 'created_at';
const SORT_DATE = 'sort_date';
/** Sorts a row without a date before all others. */
const NO_DATE = '0001-01-01T00:00:00.000Z';

/** The columns that the rows are sorted by, with which a page starts. No two rows are equal in all of them. */
export function listOrderColumns(list: List): readonly string[] {
  return ['change', ...(isSortedByDate(list) ? [SORT_DATE] : []), ...listKeys(list)];
}

/** Returns the values of the sort columns of a row. */
export function getOrderValues(list: List, row: Row): readonly Value[] {
  return listOrderColumns(list).map(name =>
    name === SORT_DATE ? (row[DATE] ?? NO_DATE) : (row[name] ?? null),
  );
}

/** Whether the rows of a list have a date of the registry by which people read them. */
function isSortedByDate({ order: [first] }: List): boolean {
  return first?.[0] === DATE;
}

/** Streams the rows that differ between two instants: added ones first, then changed, then removed ones, each by date if they have one. */
export async function* readComparedRows(
  reader: Reader,
  selection: ComparedSelection,
  range: ComparedRange,
): AsyncGenerator<Row> {
  const { list, from, to } = selection;
  const refine = list.refine ?? (async (_reader: Reader, rows: readonly Row[]) => rows);
  const names = listComparisonColumns(list).map(({ name }) => name);
  const isRemoved = (row: Row) => row['change'] === 'removed';
  for await (const group of chunkRows(reader.stream(selectComparedRows(selection, range)))) {
    const rows = group.map(row => toComparedRow(list, row));
    // Removed rows come last, and have their computed columns as of the earlier instant.
    const staying = await refine(
      reader,
      rows.filter(row => !isRemoved(row)),
      to,
    );
    const removed = await refine(reader, rows.filter(isRemoved), from);
    for (const row of [...staying, ...removed])
      yield Object.fromEntries(names.map(name => [name, row[name] ?? null]));
  }
}

/** Returns the SQL query of the rows that differ, with all values filled in, so that a user can run it. */
export function showComparisonSql(
  reader: Reader,
  selection: ComparedSelection,
  limit: number | null,
): string {
  return reader.formatQuery(selectComparedRows(selection, { limit, after: null }));
}

/** Builds the query of the rows that differ, in their order: a page, or all. */
function selectComparedRows(selection: ComparedSelection, { limit, after }: ComparedRange): RawBuilder<Row> {
  const { list, to } = selection;
  const order = sql.join(listOrderColumns(list).map(name => sql.ref(name)));
  const isAfter = after === null ? sql`` : sql` WHERE (${order}) > (${sql.join(after)})`;
  const limitTo = limit === null ? sql`` : sql` LIMIT ${limit}`;
  const page = sql`SELECT * FROM compared${isAfter} ORDER BY ${order}${limitTo}`;
  const hasOwnerName = list.columns.some(({ name }) => name === OWNER_NAME_COLUMN);
  if (!hasOwnerName)
    return sqlStatement`${defineComparedTable(selection)} SELECT ${ALL_COLUMNS} FROM (${page}) AS listed ORDER BY ${order}`;
  const columns = new SelectList<Row>(sql`listed.*, owners.full_name AS ${sql.id(OWNER_NAME_COLUMN)}`);
  return sqlStatement`${defineComparedTable(selection)}, owners AS MATERIALIZED (
  SELECT id AS owner_id, full_name FROM ${relation('organizations_history')} WHERE ${buildValidAtCondition(to)}
)
SELECT ${columns} FROM (${page}) AS listed LEFT JOIN owners ON owners.owner_id = listed.organization_id
ORDER BY ${order}`;
}

/** Tonnes and rows of one credit type that were added, changed or removed. */
export interface ComparedSum {
  readonly change: Difference;
  readonly type: string | null;
  readonly amountMicro: bigint;
  readonly rows: number;
}

/**
 * Adds up the rows that differ, by kind of difference and credit type. A changed row adds its new amount and subtracts its old
 * one.
 */
export async function sumComparedRows(reader: Reader, selection: ComparedSelection): Promise<ComparedSum[]> {
  const { amounts } = selection.list;
  const typeOf = (side: Side) => (amounts === 'by type' ? sql.ref(`${side}_type`) : sql`CAST(NULL AS text)`);
  const amountOf = (side: Side) =>
    amounts === 'none' ? sql`CAST(NULL AS bigint)` : sql.ref(`${side}_amount_micro`);
  const columns = select({
    change: sql<Difference>`change`,
    type: sql<string | null>`type`,
    tonnes: sql<number | bigint | null>`sum(amount_micro / 1000000)`,
    rest: sql<number | bigint | null>`sum(amount_micro % 1000000)`,
    rows: sql<number>`sum(is_counted)`,
  });
  const sums = await reader.all(sqlStatement`${defineComparedTable(selection)}
SELECT ${columns} FROM (
  SELECT change, ${typeOf('old')} AS type, 0 - ${amountOf('old')} AS amount_micro, CASE change WHEN 'removed' THEN 1 ELSE 0 END AS is_counted
  FROM compared WHERE change <> 'added'
  UNION ALL
  SELECT change, ${typeOf('new')}, ${amountOf('new')}, 1 FROM compared WHERE change <> 'removed'
) AS moved GROUP BY change, type ORDER BY change, type`);
  return sums.map(toExactSum).map(({ amount_micro: amountMicro, ...sum }) => ({ ...sum, amountMicro }));
}

/**
 * Returns the WITH clauses that define `compared`: one row for each key whose versions at the two instants differ. A version
 * that was valid at both instants is never read. Versions are paired by grouping, because in a join SQLite may compare each with
 * all others.
 */
function defineComparedTable({ list, organizationIds, from, to }: ComparedSelection): RawBuilder<unknown> {
  const keys = joinColumns(listKeys(list));
  const content = [...listComparedColumns(list), ...listDocumentColumn(list)];
  const paired = [...new Set([...listReadColumns(list), ...content, 'version'])];
  const versionColumns = joinColumns([...listKeys(list), ...paired]);
  const where = [{ column: getOwnerColumn(list), among: organizationIds }];
  const pickSide = (name: string, side: Side) =>
    sql`max(${sql.ref(name)}) FILTER (WHERE side = ${sql.lit(side)}) AS ${sql.id(`${side}_${name}`)}`;
  const pairs = sql.join(
    paired.flatMap(name => [pickSide(name, 'old'), pickSide(name, 'new')]),
    sql`,\n    `,
  );
  const contentOf = (side: Side) => joinColumns(content.map(name => `${side}_${name}`));
  const sortDate = sql`coalesce(CASE WHEN new_version IS NULL THEN ${sql.ref(`old_${DATE}`)} ELSE ${sql.ref(`new_${DATE}`)} END, ${NO_DATE}) AS ${sql.id(SORT_DATE)}, `;
  return sql`WITH versions AS (
  SELECT 'old' AS side, ${versionColumns} FROM ${matchingRows({ list, where, at: from })} AND valid_to <= ${to}
  UNION ALL
  SELECT 'new', ${versionColumns} FROM ${matchingRows({ list, where, at: to })} AND valid_from > ${from}
), pairs AS (
  SELECT ${keys},
    ${pairs}
  FROM versions GROUP BY ${keys}
), compared AS (
  SELECT CASE WHEN old_version IS NULL THEN 'added' WHEN new_version IS NULL THEN 'removed' ELSE 'changed' END AS change, ${isSortedByDate(list) ? sortDate : sql``}pairs.*
  FROM pairs WHERE old_version IS NULL OR new_version IS NULL
    OR (${contentOf('old')})
      IS DISTINCT FROM (${contentOf('new')})
)`;
}

/** The prefix of the columns of the earlier or the later version of a row. */
type Side = 'old' | 'new';

/** Returns column names as SQL, separated by commas. */
function joinColumns(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map(name => sql.ref(name)));
}

/** Lists the columns that identify a row. Returns an empty array for a list whose rows the program itself makes. */
function listKeys({ entry }: List): readonly string[] {
  return entry === null ? [] : listKeyColumns(entry);
}

/** Returns the column with the id of the organization that a row belongs to. */
function getOwnerColumn({ entry }: List): string {
  return (entry && findOwnerColumn(entry)) ?? 'organization_id';
}

/** Lists the columns that are read at both instants. */
function listReadColumns({ entry }: List): readonly string[] {
  return (entry?.columns ?? []).map(({ name }) => name).filter(name => name !== 'amount');
}

/** Lists the columns in which a difference counts as a change of the row. */
function listComparedColumns(list: List): readonly string[] {
  return listReadColumns(list).filter(name => ![...BOOKKEEPING_COLUMNS, ...AMOUNT_FORMS].includes(name));
}

/** Returns the column with the registry's JSON. Returns an empty array if the rows have no such column. */
function listDocumentColumn({ entry }: List): readonly string[] {
  return entry?.hasDocument === true ? [DOCUMENT] : [];
}

/** Returns a row with the columns of its list as of the later instant. A removed row has the columns as of the earlier instant. */
function toComparedRow(list: List, row: Row): Row {
  const change = row['change'] ?? null;
  const before = pickVersion(list, row, 'old');
  const after = pickVersion(list, row, 'new');
  const keys = Object.fromEntries(listKeys(list).map(name => [name, row[name] ?? null]));
  return {
    change,
    ...keys,
    ...(change === 'removed' ? before : after),
    ...(OWNER_NAME_COLUMN in row && { [OWNER_NAME_COLUMN]: row[OWNER_NAME_COLUMN] ?? null }),
    amount_before: before['amount_exact'] ?? null,
    amount_after: after['amount_exact'] ?? null,
    difference: subtractAmounts(change, before['amount_micro'] ?? null, after['amount_micro'] ?? null),
    ...(change === 'changed' && formatDifference(list, before, after)),
  };
}

/** Returns the columns of the old or the new version in a row that has both. */
function pickVersion(list: List, row: Row, side: Side): Row {
  return Object.fromEntries(listReadColumns(list).map(name => [name, row[`${side}_${name}`] ?? null]));
}

/** Lists the columns that differ between two versions of a row, with both values. */
function listChangedFields(list: List, before: Row, after: Row): readonly ChangedColumn[] {
  const changed = listComparedColumns(list).filter(name => before[name] !== after[name]);
  return listChangedColumns({ changed_columns: changed, before, after });
}

/**
 * Returns the names and values of the changed fields. If no column differs, the two versions differ in their documents only, and
 * the field is named `document`.
 */
function formatDifference(list: List, before: Row, after: Row): RestatedFieldCells {
  const fields = listChangedFields(list, before, after);
  return { ...formatChangedFields(fields), ...(fields.length === 0 && { fields: DOCUMENT }) };
}

/**
 * Returns how many tonnes more a row has at the later instant. An added or removed row counts as 0 where it is absent. Null if
 * an amount is not usable.
 */
function subtractAmounts(change: Value, before: Value, after: Value): string | null {
  const old = change === 'added' ? 0n : toMicro(before);
  const current = change === 'removed' ? 0n : toMicro(after);
  return old === null || current === null ? null : formatPlainTonnes(current - old);
}

function toMicro(value: Value): bigint | null {
  return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : null;
}
