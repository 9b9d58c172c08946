/** Adds up the rows of a list in groups, such as the retirements of each organization and month. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { SelectList, sqlStatement } from '../../store/sql/columns.js';
import { describeWrongWord, findSpelling } from '../../text/spelling.js';
import { formatPlainTonnes } from '../../text/tonnes.js';
import { type Answer, type Totals, streamOf, findAmountCaveats, totalsOfSums } from '../answer/answer.js';
import { type Total, toExactSum } from '../sums.js';
import {
  count,
  idOf,
  type ListColumn,
  ORGANIZATION_ID,
  ORGANIZATION_NAME,
  PROJECT_NAME,
  text,
  tonnes,
} from './column.js';
import type { ListRequest } from './list-type.js';
import { matchingRows } from './matching-rows.js';
import { readKnownSelection } from './read-list.js';
import { buildOwnerFrom } from './read-rows.js';
import { TOTAL, type TotalRow } from './totals.js';
import { findUnmatchedFilters } from './unmatched-filters.js';

interface GroupingDefinition {
  /** The column that tells the groups apart, and how it is computed from a row. */
  readonly key: string;
  readonly value: (reader: Reader) => RawBuilder<unknown>;
  /** The column by which groups are sorted. */
  readonly sortedBy: string;
  /** The columns that are shown. */
  readonly columns: readonly ListColumn[];
}

/** The columns by which rows can be grouped. */
export const GROUPINGS = ['organization', 'beneficiary', 'project', 'vintage', 'month'] as const;
export type Grouping = (typeof GROUPINGS)[number];

const DEFINITIONS: Readonly<Record<Grouping, GroupingDefinition>> = {
  organization: {
    key: 'organization_id',
    value: () => sql.ref('organization_id'),
    sortedBy: 'organization_name',
    columns: [ORGANIZATION_NAME, ORGANIZATION_ID],
  },
  beneficiary: {
    key: 'beneficiary',
    value: () => sql.ref('beneficiary'),
    sortedBy: 'beneficiary',
    columns: [text('beneficiary', { placeholder: 'unclaimed' })],
  },
  project: {
    key: 'project_id',
    value: () => sql.ref('project_id'),
    sortedBy: 'project_name',
    columns: [PROJECT_NAME, idOf('project_id', 'projects')],
  },
  vintage: {
    key: 'vintage',
    value: () => sql.ref('vintage'),
    sortedBy: 'vintage',
    columns: [text('vintage')],
  },
  month: {
    key: 'month',
    value: ({ asText }) => sql`substr(${asText(sql.ref('created_at'))}, 1, 7)`,
    sortedBy: 'month',
    columns: [text('month')],
  },
};

export interface GroupTotalsAnswer extends Answer<Row> {
  readonly totals: Totals;
  readonly columns: readonly ListColumn[];
  /** Why there are no rows. */
  readonly empty: string;
}

/**
 * Parses groupings that are separated by commas. Ignores case, hyphens, underscores and spaces. Returns a fault for an unknown grouping.
 */
export function parseGroupings(words: string): readonly Grouping[] | { readonly fault: string } {
  const groupings: Grouping[] = [];
  for (const word of words.split(',').map(each => each.trim())) {
    const spelling = findSpelling(word, GROUPINGS);
    const grouping = GROUPINGS.find(each => each === spelling);
    if (grouping === undefined) return { fault: describeWrongWord(word, GROUPINGS) };
    if (!groupings.includes(grouping)) groupings.push(grouping);
  }
  return groupings;
}

/**
 * Adds up the matching rows in groups, sorted by the first grouping, then by the second, and so on. Rows and totals are read in one
 * snapshot.
 */
export async function readGroupTotals(
  reader: Reader,
  request: ListRequest,
  groupings: readonly Grouping[],
): Promise<GroupTotalsAnswer> {
  return await reader.inSnapshot(async snapshot => {
    const { selection, notes } = await readKnownSelection(snapshot, request);
    const groups = await readGroups(snapshot, selection, groupings);
    const totals = totalsOfSums(groups);
    const { list, filters } = request;
    const unmatched = totals.rows === 0 ? await findUnmatchedFilters(snapshot, request) : [];
    return {
      ...notes,
      rows: streamOf(groups.map(toRow)),
      totals,
      caveats: [...notes.caveats, ...unmatched, ...findAmountCaveats(totals)],
      columns: [...groupings.flatMap(grouping => DEFINITIONS[grouping].columns), ...SUM_COLUMNS],
      empty: filters.length > 0 ? `No ${list.plural} match these filters.` : `There are no ${list.plural}.`,
    };
  });
}

const SUM_COLUMNS = [tonnes('amount_exact'), count('rows'), count('rows_without_amount')];

type Group = Row & Total & { readonly type: null; readonly amount_micro: bigint };

/** Reads one row for each group, all into memory: a report has few lines. */
async function readGroups(
  reader: Reader,
  selection: ListRequest,
  groupings: readonly Grouping[],
): Promise<readonly Group[]> {
  const { list, at } = selection;
  const definitions = groupings.map(grouping => DEFINITIONS[grouping]);
  const keys = definitions.map(({ key, value }) => sql`${value(reader)} AS ${sql.id(key)}`);
  // A project may have been renamed between two retirements.
  const projectName = groupings.includes('project') ? [sql`max(project_name) AS project_name`] : [];
  const cells = [...keys, ...projectName, TOTAL];
  const groups = sql`SELECT ${sql.join(cells)} FROM ${matchingRows(selection)}
    GROUP BY ${sql.join(definitions.map(({ key }) => sql.id(key)))}`;
  const organizationName = sql`(SELECT owner.full_name FROM ${buildOwnerFrom(list, at)}) AS organization_name`;
  const columns = groupings.includes('organization') ? sql`listed.*, ${organizationName}` : sql`listed.*`;
  const order = definitions.flatMap(({ sortedBy, key }) =>
    [sortedBy, key].map(column => sql`${sql.id(column)} NULLS FIRST`),
  );
  const rows = await reader.all(
    sqlStatement`SELECT ${new SelectList<Row & TotalRow>(columns)} FROM (${groups}) AS listed ORDER BY ${sql.join(order)}`,
  );
  return rows.map(row => ({ ...row, type: null, amount_micro: toExactSum(row).amount_micro }));
}

/** Replaces the two partial sums of a group by one exact amount in tonnes. */
function toRow({ tonnes: _tonnes, rest: _rest, type: _type, amount_micro: micro, ...row }: Group): Row {
  return { ...row, amount_exact: formatPlainTonnes(micro) };
}
