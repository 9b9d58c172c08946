import { type RawBuilder, sql } from 'kysely';
import type { Leaf, LeafFilter, NumberedKind } from '../../evidence/port.js';
import type { Table } from '../dialect.js';
import type { SqlBuilder } from '../sql/builder.js';
import { jsonRelation, tableRef } from '../sql/columns.js';
import { type Params, prepared, type PreparedStatement, type Values } from '../sql/prepared.js';
import type { BoundStatement } from '../statement.js';

const leaf = tableRef('evidence.leaves');
const numberList = jsonRelation('given', { number: 'int' });

/** The columns that reveal what a leaf is about. An erasure sets them to null. */
const ERASED = {
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

/** Statements that read or erase the leaves of a filter. */
interface LeafStatements {
  readonly list: BoundStatement<Leaf>;
  /** Lists only leaves that were not erased. */
  readonly listUnerased: BoundStatement<Leaf>;
  readonly erase: BoundStatement;
}

/**
 * Prepares the statements for one kind of leaf filter. `isSelected` is the SQL condition of the filter, and `FilterValues` are
 * its parameters.
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
    builder.db.updateTable('evidence.leaves').set(ERASED).where(isSelected(params, builder)),
  );
  return values => ({
    list: bindValues(list, values),
    listUnerased: bindValues(listUnerased, values),
    erase: bindValues(erase, values),
  });
}

/** Binds values to a prepared statement. TypeScript cannot call the statement itself with values of a generic type. */
function bindValues<FilterValues extends Values, Row>(
  { compileFor }: PreparedStatement<FilterValues, Row>,
  values: FilterValues,
): BoundStatement<Row> {
  return {
    bind: dialect => {
      const { text, bind } = compileFor(dialect);
      return { text, values: bind(values) };
    },
  };
}

const OF_ORGANIZATION = prepareFilter(
  ({ organizationId }: Params<{ readonly organizationId: string }>) =>
    sql<boolean>`${leaf.subject} = ${organizationId}`,
);
const OF_RESOURCE = prepareFilter(
  ({ resource }: Params<{ readonly resource: string }>) =>
    sql<boolean>`${leaf.kind} = 'change' AND ${leaf.resource} = ${resource}`,
);

/** A constant kind lets both engines use the partial indexes. */
const createNumberStatements = (kind: NumberedKind) =>
  prepareFilter(
    ({ numbers }: Params<{ readonly numbers: Table }>, { fn }) =>
      sql<boolean>`${leaf.kind} = ${kind} AND ${leaf.number} IN (
        SELECT ${numberList.columns.number} FROM ${numberList.from(fn, numbers)})`,
  );
const WITH_NUMBERS: Readonly<Record<NumberedKind, ReturnType<typeof createNumberStatements>>> = {
  change: createNumberStatements('change'),
  sync: createNumberStatements('sync'),
  unchanged: createNumberStatements('unchanged'),
};
const AT_PLACES = prepareFilter(
  ({ places }: Params<{ readonly places: Table }>, { fn }) =>
    sql<boolean>`${leaf.place} IN (SELECT ${numberList.columns.number} FROM ${numberList.from(fn, places)})`,
);
const ABOUT_LOG = prepareFilter(
  ({ aboutLogBefore }: Params<{ readonly aboutLogBefore: number }>) =>
    sql<boolean>`${leaf.kind} IN ('forget', 'purge', 'restore', 'key') AND ${leaf.place} < ${aboutLogBefore}`,
);

type BeforePlace = { readonly before: number };
const createNewestStatements = (kind: 'coverage' | 'organization') =>
  prepareFilter(
    ({ before }: Params<BeforePlace>) =>
      sql<boolean>`${leaf.place} IN (SELECT max(${leaf.place}) FROM ${leaf()}
        WHERE ${leaf.kind} = ${kind} AND ${leaf.place} < ${before} AND ${leaf.subject} IS NOT NULL GROUP BY ${leaf.subject})`,
  );
const NEWEST = {
  coverage: createNewestStatements('coverage'),
  organization: createNewestStatements('organization'),
  complete: prepareFilter(
    ({ before }: Params<BeforePlace>) =>
      sql<boolean>`${leaf.place} IN (SELECT max(${leaf.number}) FROM ${leaf()}
        WHERE ${leaf.kind} = 'complete' AND ${leaf.number} < ${before})`,
  ),
};

/** Returns the statements that list or erase the leaves that a filter selects. Leaves are the entries of the evidence log. */
export function selectLeaves(filter: LeafFilter): LeafStatements {
  if ('organizationId' in filter) return OF_ORGANIZATION(filter);
  if ('resource' in filter) return OF_RESOURCE(filter);
  if ('numbers' in filter) return WITH_NUMBERS[filter.kind]({ numbers: toNumberTable(filter.numbers) });
  if ('places' in filter) return AT_PLACES({ places: toNumberTable(filter.places) });
  if ('aboutLogBefore' in filter) return ABOUT_LOG(filter);
  return NEWEST[filter.newest]({ before: filter.before });
}

function toNumberTable(numbers: readonly number[]): Table {
  return numberList.toTable(numbers.map(number => ({ number })));
}
