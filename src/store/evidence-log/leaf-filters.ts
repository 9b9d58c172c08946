import { type RawBuilder, sql } from 'kysely';
import type { Leaf, LeafFilter, NumberedKind } from '../../evidence/port.js';
import type { Table } from '../dialect.js';
import type { SqlBuilder } from '../sql/builder.js';
import { jsonRelation, tableRef } from '../sql/columns.js';
import { type Params, prepared, type Values } from '../sql/prepared.js';
import type { BoundStatement } from '../statement.js';

const leaf = tableRef('evidence.leaves');
const numberList = jsonRelation('given', { number: 'int' });

/** What an erasure writes into a leaf: null into every column that reveals what the leaf is about. */
const ERASED_VALUES = {
  subject: null,
  ended: null,
  observed: null,
  dated: null,
  micro: null,
  read_at: null,
  is_complete: null,
  record: null,
  salt: null,
  plain_code: null,
} as const;

/** SQL statements that read or erase the leaves that a `LeafFilter` selects. */
interface LeafStatements {
  /** Reads the leaves, by leaf index. */
  readonly list: BoundStatement<Leaf>;
  /** Reads the leaves that were not erased, by leaf index. */
  readonly listUnerased: BoundStatement<Leaf>;
  /** Empties the columns that reveal what the leaves are about. */
  readonly erase: BoundStatement;
}

/**
 * Prepares the statements that read or erase the leaves (entries of the evidence log) that one kind of `LeafFilter` selects. The callback
 * `isSelected` builds the SQL condition for that kind. The returned function binds the statements to the values of one filter.
 */
function prepareFilter<FilterValues extends Values>(
  isSelected: (params: Params<FilterValues>, builder: SqlBuilder) => RawBuilder<boolean>,
): (values: FilterValues) => LeafStatements {
  const list = prepared((builder, params: Params<FilterValues>) =>
    builder.db.selectFrom('evidence.leaves').selectAll().where(isSelected(params, builder)).orderBy('place'),
  );
  const listUnerased = prepared((builder, params: Params<FilterValues>) =>
    builder.db
      .selectFrom('evidence.leaves')
      .selectAll()
      .where('salt', 'is not', null)
      .where(isSelected(params, builder))
      .orderBy('place'),
  );
  const erase = prepared((builder, params: Params<FilterValues>) =>
    builder.db.updateTable('evidence.leaves').set(ERASED_VALUES).where(isSelected(params, builder)),
  );
  return values => ({
    list: list.bindValues(values),
    listUnerased: listUnerased.bindValues(values),
    erase: erase.bindValues(values),
  });
}

/** Statements for the leaves that concern an organization. */
const OF_ORGANIZATION = prepareFilter(
  ({ organizationId }: Params<{ readonly organizationId: string }>) =>
    sql<boolean>`${leaf.subject} = ${organizationId}`,
);
/** Statements for the change leaves of a resource. */
const OF_RESOURCE = prepareFilter(
  ({ resource }: Params<{ readonly resource: string }>) =>
    sql<boolean>`${leaf.kind} = 'change' AND ${leaf.resource} = ${resource}`,
);

/** Prepares the statements for leaves of a kind with given numbers. A constant kind lets both engines use the partial indexes. */
const prepareNumberFilter = (kind: NumberedKind) =>
  prepareFilter(
    ({ numbers }: Params<{ readonly numbers: Table }>, { fn }) =>
      sql<boolean>`${leaf.kind} = ${kind} AND ${leaf.number} IN (
        SELECT ${numberList.columns.number} FROM ${numberList.from(fn, numbers)})`,
  );
const WITH_NUMBERS: Readonly<Record<NumberedKind, ReturnType<typeof prepareNumberFilter>>> = {
  change: prepareNumberFilter('change'),
  sync: prepareNumberFilter('sync'),
  unchanged: prepareNumberFilter('unchanged'),
};
/** Statements for the leaves with given leaf indexes. */
const WITH_INDEXES = prepareFilter(
  ({ leafIndexes }: Params<{ readonly leafIndexes: Table }>, { fn }) =>
    sql<boolean>`${leaf.place} IN (SELECT ${numberList.columns.number} FROM ${numberList.from(fn, leafIndexes)})`,
);
/** Statements for the leaves about erasures, restores and new keys that have a lower index than a given one. */
const LOG_EVENTS = prepareFilter(
  ({ logEventsBefore }: Params<{ readonly logEventsBefore: number }>) =>
    sql<boolean>`${leaf.kind} IN ('forget', 'purge', 'restore', 'key') AND ${leaf.place} < ${logEventsBefore}`,
);

type BeforeIndex = { readonly beforeIndex: number };
/** Prepares the statements for the newest leaf of a kind of each organization with a lower index than a given one. */
const prepareNewestFilter = (kind: 'coverage' | 'organization') =>
  prepareFilter(
    ({ beforeIndex }: Params<BeforeIndex>) =>
      sql<boolean>`${leaf.place} IN (SELECT max(${leaf.place}) FROM ${leaf()}
        WHERE ${leaf.kind} = ${kind} AND ${leaf.place} < ${beforeIndex} AND ${leaf.subject} IS NOT NULL GROUP BY ${leaf.subject})`,
  );
/** Statements for the newest leaves of these kinds before an index. The newest `complete` leaf is one for the entire log. */
const NEWEST = {
  coverage: prepareNewestFilter('coverage'),
  organization: prepareNewestFilter('organization'),
  complete: prepareFilter(
    ({ beforeIndex }: Params<BeforeIndex>) =>
      sql<boolean>`${leaf.place} IN (SELECT max(${leaf.number}) FROM ${leaf()}
        WHERE ${leaf.kind} = 'complete' AND ${leaf.number} < ${beforeIndex})`,
  ),
};

/** Builds the statements that read or erase the leaves (entries of the evidence log) that a filter selects. */
export function buildLeafStatements(filter: LeafFilter): LeafStatements {
  if ('organizationId' in filter) return OF_ORGANIZATION(filter);
  if ('resource' in filter) return OF_RESOURCE(filter);
  if ('numbers' in filter) return WITH_NUMBERS[filter.kind]({ numbers: toNumberTable(filter.numbers) });
  if ('leafIndexes' in filter) return WITH_INDEXES({ leafIndexes: toNumberTable(filter.leafIndexes) });
  if ('logEventsBefore' in filter) return LOG_EVENTS(filter);
  return NEWEST[filter.newest]({ beforeIndex: filter.beforeIndex });
}

/** Converts numbers to the table parameter that the statements select from. */
function toNumberTable(numbers: readonly number[]): Table {
  return numberList.toTable(numbers.map(number => ({ number })));
}
