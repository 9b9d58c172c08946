import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import { cellsOf, DATED, nameOf, VERSION } from '../../../migrations/schema.js';
import type { LeafRecord, EvidencePort, LeafInput } from '../../evidence/port.js';
import type { Table } from '../dialect.js';
import { jsonRelation, tableRef, select, sqlStatement } from '../sql/columns.js';
import type { SqlBuilder } from '../sql/builder.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';
import { isAfterSimulation, type NumberRange } from './mirror-reads.js';
import { hasCountedRows, type MirroredResource } from './mirrored-resources.js';

/** A row version of the mirror: its columns by name. */
type VersionRow = LeafRecord;

/** Functions that read changes of the mirror as inputs of leaves of the evidence log. */
interface MirrorChanges extends Pick<EvidencePort, 'listChangesByNumber'> {
  /** Reads the changes of all resources with numbers in a range, in the order of their numbers. */
  readonly listChanges: (range: NumberRange) => Promise<LeafInput[]>;
}

/** The columns of a past row version that say when it ended, and which change and sync ended it. */
const END_COLUMNS = ['valid_to', 'closed_by', 'closed_version'] as const;
/** Columns of an ended row version, each with the field of a change's record into which it is copied. */
const END_FIELDS = [
  ['version', 'ended_version'],
  ['valid_to', 'ended_at'],
  ['closed_by', 'ended_by'],
  ['closed_version', 'version'],
] as const;

const numberList = jsonRelation('given', { number: 'int' });

/** Returns the names of the columns of a resource's table: version, key, content and dates. */
function listVersionColumns(resource: MirroredResource): string[] {
  return Object.keys({ ...VERSION, ...resource.columns, ...('dated' in resource ? resource.dated : DATED) });
}

/**
 * Returns the names of the columns of a new row version that are written to the evidence log. The leaf (log entry) of the change that
 * created the version contains their values; of the column `document`, only the hash.
 */
function listRecordColumns(resource: MirroredResource): string[] {
  if (!('shows' in resource)) return listVersionColumns(resource);
  return ['version', ...resource.key, ...resource.shows, ...Object.keys(resource.dated)];
}

/**
 * Returns the SQL expression that selects a column of a past row version from the table `mirror.past` (alias `p`). The value is
 * in a column of that table, or in the JSON object that holds the other columns of the row.
 */
function selectPastColumn(fn: SqlFunctions, resource: MirroredResource, column: string): RawBuilder<unknown> {
  if (column === nameOf(resource)) return sql.id('p', 'key');
  const kind = cellsOf(resource)[column]?.[0];
  return kind === undefined ? sql.id('p', column) : fn.typedPastCell('p', column, kind);
}

/** Builds a SELECT that reads `columns` of all past row versions of a resource. Callers add their own condition on version numbers. */
function selectPast(fn: SqlFunctions, resource: MirroredResource, columns: readonly string[]) {
  // A resource may have a million past versions. The expression `resource || ''` keeps the database from using the index by
  // resource, so that it uses the index by number.
  const p = tableRef('mirror.past', 'p');
  const cells = columns.map(column => sql`${selectPastColumn(fn, resource, column)} AS ${sql.id(column)}`);
  return sql`SELECT ${sql.join(cells)} FROM ${p()} WHERE ${p.resource} || '' = ${resource.resource}`;
}

/**
 * Builds a SELECT that reads `columns` of the rows of `versions` that meet the SQL condition `isSelected`. Leaves out rows that the
 * evidence log never contains: those that fail the condition `only` of the resource, and invented rows of a demo. A demo fills the mirror
 * with invented history; a row is invented if the time in its column `instant` lies in that history.
 */
function selectVersions(
  resource: MirroredResource,
  versions: RawBuilder<unknown>,
  columns: readonly string[],
  instant: 'valid_from' | 'valid_to',
  isSelected: RawBuilder<unknown>,
) {
  const row = Object.fromEntries(columns.map(name => [name, sql.id<LeafRecord[string]>('h', name)]));
  const isShown = 'only' in resource ? sql.raw(resource.only) : sql`true`;
  return sqlStatement`SELECT ${select(row)} FROM (${versions}) AS h
    WHERE ${isShown} AND ${isSelected} AND ${isAfterSimulation(sql.id<string>('h', instant))}`;
}

/** Change numbers as a table parameter. */
type NumberList = { readonly numbers: Table };
/** Returns an SQL condition on a change number, given the SQL expression of that number. */
type NumberCondition = (number: RawBuilder<unknown>) => RawBuilder<unknown>;

/** Returns the condition that a change number is in a range. */
const isInRange =
  ({ after, to }: Params<NumberRange>): NumberCondition =>
  number =>
    sql`${number} > ${after} AND ${number} <= ${to}`;
/** Returns the condition that a change number is in a list. */
const isListed =
  ({ fn }: SqlBuilder, { numbers }: Params<NumberList>): NumberCondition =>
  number =>
    sql`${number} IN (SELECT ${numberList.columns.number} FROM ${numberList.from(fn, numbers)})`;

/**
 * Prepares the statements that read the changes of a resource, given a range or a list of change numbers. Some statements read created row
 * versions and others read ended ones, because a change may create a row version, end a row version, or do both.
 */
function prepareChangeReads(resource: MirroredResource) {
  const columns = listVersionColumns(resource);
  /** Returns the SELECT of the row versions that the selected changes created. */
  const selectCreated = ({ fn }: SqlBuilder, isSelected: NumberCondition) => {
    const names = sql.join(columns.map(name => sql.id(name)));
    const versions = sql`SELECT ${names} FROM ${sql.table(`mirror.${resource.table}`)}
      UNION ALL ${selectPast(fn, resource, columns)}`;
    return selectVersions(resource, versions, columns, 'valid_from', isSelected(sql.id('h', 'version')));
  };
  /** Returns the SELECT of the row versions that the selected changes ended. */
  const selectEnded = ({ fn }: SqlBuilder, isSelected: NumberCondition) => {
    const all = [...columns, ...END_COLUMNS];
    const versions = selectPast(fn, resource, all);
    return selectVersions(resource, versions, all, 'valid_to', isSelected(sql.id('h', 'closed_version')));
  };
  return {
    createdInRange: prepared((builder, range: Params<NumberRange>) =>
      selectCreated(builder, isInRange(range)),
    ),
    endedInRange: prepared((builder, range: Params<NumberRange>) => selectEnded(builder, isInRange(range))),
    createdBy: prepared((builder, list: Params<NumberList>) =>
      selectCreated(builder, isListed(builder, list)),
    ),
    endedBy: prepared((builder, list: Params<NumberList>) => selectEnded(builder, isListed(builder, list))),
  };
}

/** The statements of `prepareChangeReads` for each resource, and the columns that the record of a change has. */
const STATEMENTS = RESOURCES.map(resource => ({
  resource,
  recordColumns: listRecordColumns(resource),
  ...prepareChangeReads(resource),
}));
/** A resource whose changes are read, and the columns that their records have. */
type ChangedResource = Pick<(typeof STATEMENTS)[number], 'resource' | 'recordColumns'>;

/**
 * Creates the input from which the leaf (log entry) of a change is made. The record of the leaf has the columns of the row version that the
 * change created, or only the key if the change removed the row. `ended` is the row version that the change ended, if any; then the record
 * also says which version that is, and when it ended.
 */
function createChangeInput(
  { resource, recordColumns }: ChangedResource,
  number: number,
  created: VersionRow | undefined,
  ended: VersionRow | undefined,
): LeafInput {
  const version = created ?? ended;
  const record: Record<string, LeafRecord[string]> = { kind: 'change', resource: resource.resource };
  for (const name of created === undefined ? resource.key : recordColumns)
    if (name === 'document') record['document_sha256'] = hash('sha256', String(created?.[name]), 'hex');
    else record[name] = version?.[name] ?? null;
  if (ended !== undefined) for (const [name, field] of END_FIELDS) record[field] = ended[name] ?? null;
  const { ended_version: endedVersion, valid_from: from, created_at: dated, amount_micro: micro } = record;
  const isCounted = hasCountedRows(resource) && created !== undefined;
  return {
    kind: 'change',
    read_at: null,
    is_complete: null,
    number,
    subject: resource.owner === null ? null : toTextOrNull(version?.[resource.owner]),
    record,
    resource: resource.resource,
    ended: endedVersion == null ? null : Number(endedVersion),
    observed: isCounted ? String(from).slice(0, 7) : null,
    dated: isCounted && dated != null ? String(dated).slice(0, 7) : null,
    micro: isCounted && micro != null ? String(micro) : null,
    document: toTextOrNull(created?.['document']),
    file: toTextOrNull(created?.['file']),
  };
}

/** Creates the leaf inputs of changes from the row versions that they created and ended. A change may appear in both lists. */
function createChangeInputs(
  resource: ChangedResource,
  created: readonly VersionRow[],
  ended: readonly VersionRow[],
): LeafInput[] {
  const createdByNumber = new Map(created.map(row => [Number(row['version']), row]));
  const endedByNumber = new Map(ended.map(row => [Number(row['closed_version']), row]));
  const numbers = new Set([...createdByNumber.keys(), ...endedByNumber.keys()]);
  return Array.from(numbers, number =>
    createChangeInput(resource, number, createdByNumber.get(number), endedByNumber.get(number)),
  );
}

/** Returns a value if it is a string, otherwise null. */
function toTextOrNull(cell: LeafRecord[string] | undefined): string | null {
  return typeof cell === 'string' ? cell : null;
}

/** Creates the functions that read changes of the mirror as inputs of leaves of the evidence log. */
export function createMirrorChangeReader({ readMirror }: EvidenceDatabase): MirrorChanges {
  return {
    listChanges: async range => {
      const changes: LeafInput[] = [];
      for (const statements of STATEMENTS) {
        const { createdInRange, endedInRange } = statements;
        const [created, ended] = await readMirror(createdInRange(range), endedInRange(range));
        changes.push(...createChangeInputs(statements, created, ended));
      }
      return changes.toSorted((left, right) => Number(left.number) - Number(right.number));
    },
    listChangesByNumber: async (name, numbers) => {
      const statements = STATEMENTS.find(({ resource }) => resource.resource === name);
      if (statements === undefined) return [];
      const { createdBy, endedBy } = statements;
      const list = { numbers: numberList.toTable(numbers.map(number => ({ number }))) };
      const [created, ended] = await readMirror(createdBy(list), endedBy(list));
      return createChangeInputs(statements, created, ended);
    },
  };
}
