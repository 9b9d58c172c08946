import { type RawBuilder, sql } from 'kysely';
import type { RowKey } from '../../mirror/port/rows.js';
import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import type { SqlValue } from '../../resources/sql-values.js';
import { type ListResource, LISTS } from '../../resources/lists.js';
import { versionedTable } from '../contract/tables.js';
import type { Kinds, Table } from '../dialect.js';
import { jsonRelation, listColumns, tableRef, select, sqlStatement } from '../sql/columns.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { Database } from '../statement.js';
import { cachePerKey, getColumnKinds } from './row-versions.js';
import type { OrganizationParam } from './list-states.js';

/** The SQL expressions of selected columns by name. */
type ColumnExpressions = Readonly<Record<string, RawBuilder<SqlValue>>>;
interface RowExpressions extends ColumnExpressions {
  readonly version: RawBuilder<number>;
}
type RowPageParams = OrganizationParam & { readonly limit: number };
/** The parts of a row's key. */
type KeyParts = Readonly<Record<`key_${number}`, string>>;

const statementsOf = cachePerKey(createRowStatements);

/** Creates the methods of `MirrorPort` that read the current rows of lists. */
export function createRowReads({ read }: Database): Pick<MirrorPort, 'findRows' | 'listRowsAfter'> {
  return {
    findRows: async ({ organizationId, resource }, keys, withCells = false) => {
      const { toKey, cellNames, keyKinds, findRows, findRowsWithCells } = statementsOf(resource);
      const find = withCells ? findRowsWithCells : findRows;
      const rows =
        keys.length === 0 ? null : find({ organizationId, keys: { columns: keyKinds, rows: keys } });
      const [found] = await read(rows);
      return found.map(row => ({
        version: row.version,
        document: String(row['document']),
        key: toKey(row),
        cells: withCells ? cellNames.map(name => row[name] ?? null) : [],
      }));
    },
    listRowsAfter: async ({ organizationId, resource }, key, limit) => {
      const { toKey, listFirst, listNext } = statementsOf(resource);
      const parts = Object.fromEntries((key ?? []).map((part, index) => [`key_${index}`, part]));
      const page = { organizationId, limit };
      const [rows] = await read(key === null ? listFirst(page) : listNext({ ...parts, ...page }));
      return rows.map(row => ({ version: row.version, key: toKey(row) }));
    },
  };
}

/** Prepares the statements that find rows of a list by key, and those that read the list page by page. */
function createRowStatements(resource: ListResource) {
  const entry = LISTS[resource];
  const own = tableRef(versionedTable(entry));
  const scope = sql.ref<string>(entry.scope);
  const keyNames = entry.key.map(({ name }) => name);
  const cellNames = entry.columns.map(({ name }) => name);
  const keyKinds = getColumnKinds(entry.table, keyNames);
  const keyList = jsonRelation('given', keyKinds);
  const keyColumns = keyNames.map(name => sql.id(name));

  const versionAndKey: RowExpressions = { version: own.version, ...selectColumns(keyNames) };
  const prepareFind = (createCells: (fn: SqlFunctions) => RowExpressions) =>
    prepared(({ fn }, { organizationId, keys }: Params<OrganizationParam & { readonly keys: Table }>) => {
      const hasKey =
        keyNames.length === 0
          ? sql``
          : sql`AND (${sql.join(keyColumns)}) IN (SELECT ${listColumns('given', keyNames)} FROM ${keyList.from(fn, keys)})`;
      return sqlStatement`SELECT ${select(createCells(fn))} FROM ${own()} WHERE ${scope} = ${organizationId} ${hasKey}`;
    });
  const listPage = (fn: SqlFunctions, { organizationId, limit }: Params<RowPageParams>, isLater = sql``) =>
    sqlStatement`SELECT ${select(versionAndKey)} FROM ${own()} WHERE ${scope} = ${organizationId} ${isLater}
      ORDER BY ${sql.join([scope, ...keyColumns])} LIMIT ${fn.cast('int', limit)}`;
  return {
    toKey: (row: Readonly<Record<string, SqlValue>>): RowKey => keyNames.map(name => String(row[name])),
    cellNames,
    keyKinds,
    findRows: prepareFind(() => ({ ...versionAndKey, document: own.document })),
    findRowsWithCells: prepareFind(fn => ({
      ...versionAndKey,
      document: own.document,
      ...selectColumns(cellNames),
      ...selectLargeAsText(fn, getColumnKinds(entry.table, cellNames)),
    })),
    listFirst: prepared(({ fn }, params: Params<RowPageParams>) => listPage(fn, params)),
    listNext: prepared(({ fn }, params: Params<RowPageParams & KeyParts>) => {
      if (keyNames.length === 0) return listPage(fn, params);
      const parts = keyNames.map((_, index) => params[`key_${index}`]);
      return listPage(fn, params, sql`AND (${sql.join(keyColumns)}) > (${sql.join(parts)})`);
    }),
  };
}

function selectColumns(names: readonly string[]): ColumnExpressions {
  return Object.fromEntries(names.map(name => [name, sql.ref<SqlValue>(name)]));
}

/**
 * Returns expressions that select the columns of kind `large` as text. Their numbers may exceed 2^53, and a JavaScript number
 * would lose digits.
 */
function selectLargeAsText(fn: SqlFunctions, kinds: Kinds): ColumnExpressions {
  const names = Object.keys(kinds).filter(name => kinds[name] === 'large');
  return Object.fromEntries(names.map(name => [name, fn.cast('text', sql.ref<SqlValue>(name))]));
}
