import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { RESOURCES } from '../../../migrations/mirror/0001/mirrored.js';
import { cellsOf, DATED, nameOf, VERSION } from '../../../migrations/schema.js';
import type { Cells, EvidencePort, Observation } from '../../evidence/port.js';
import type { Table } from '../dialect.js';
import { jsonRelation, named, select, sqlStatement } from '../sql/columns.js';
import type { SqlBuilder } from '../sql/builder.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';
import { isAfterSimulation, type NumberRange } from './mirror-reads.js';
import { hasCountedRows, type MirroredResource } from './mirrored-resources.js';

interface MirrorChanges extends Pick<EvidencePort, 'listVersions'> {
  /** Returns the changes of all resources with numbers in a range, in order. */
  readonly listChanges: (range: NumberRange) => Promise<Observation[]>;
}

/** The columns of a past version that tell how it ended. */
const END_COLUMNS = ['valid_to', 'closed_by', 'closed_version'] as const;
/** The columns of a version that the record of the next change contains, and their names there. */
const ENDED_RECORD = [
  ['version', 'ended_version'],
  ['valid_to', 'ended_at'],
  ['closed_by', 'ended_by'],
  ['closed_version', 'version'],
] as const;

const numberList = jsonRelation('given', { number: 'int' });

function listColumns(resource: MirroredResource): string[] {
  return Object.keys({ ...VERSION, ...resource.columns, ...('dated' in resource ? resource.dated : DATED) });
}

/** Returns the columns of a new version that its record contains. */
function listRecordColumns(resource: MirroredResource): string[] {
  if (!('shows' in resource)) return listColumns(resource);
  return ['version', ...resource.key, ...resource.shows, ...Object.keys(resource.dated)];
}

/** Returns a column of a row of `past` with the alias `p`: a column of `past` itself or one of its cells. */
function pastColumn(fn: SqlFunctions, resource: MirroredResource, column: string): RawBuilder<unknown> {
  if (column === nameOf(resource)) return sql.id('p', 'key');
  const kind = cellsOf(resource)[column]?.[0];
  return kind === undefined ? sql.id('p', column) : fn.typedPastCell('p', column, kind);
}

/** Selects past versions of a list by number. Its own index is not used: a list may have a million of them. */
function selectPast(fn: SqlFunctions, resource: MirroredResource, columns: readonly string[]) {
  const p = named('mirror.past', 'p');
  const cells = columns.map(column => sql`${pastColumn(fn, resource, column)} AS ${sql.id(column)}`);
  return sql`SELECT ${sql.join(cells)} FROM ${p()} WHERE ${p.resource} || '' = ${resource.resource}`;
}

/** Selects the versions of one resource by a condition on their numbers, without the simulated past of a demo. */
function selectVersions(
  resource: MirroredResource,
  versions: RawBuilder<unknown>,
  columns: readonly string[],
  instant: 'valid_from' | 'valid_to',
  isSelected: RawBuilder<unknown>,
) {
  const row = Object.fromEntries(columns.map(name => [name, sql.id<Cells[string]>('h', name)]));
  const isShown = 'only' in resource ? sql.raw(resource.only) : sql`true`;
  return sqlStatement`SELECT ${select(row)} FROM (${versions}) AS h
    WHERE ${isShown} AND ${isSelected} AND ${isAfterSimulation(sql.id<string>('h', instant))}`;
}

type NumberList = { readonly numbers: Table };
/** A condition on the number of a change. */
type NumberCondition = (number: RawBuilder<unknown>) => RawBuilder<unknown>;

const isInRange =
  ({ after, to }: Params<NumberRange>): NumberCondition =>
  number =>
    sql`${number} > ${after} AND ${number} <= ${to}`;
const isListed =
  ({ fn }: SqlBuilder, { numbers }: Params<NumberList>): NumberCondition =>
  number =>
    sql`${number} IN (SELECT ${numberList.columns.number} FROM ${numberList.from(fn, numbers)})`;

/** Creates the statements that read the versions of a resource that began with a change, and those that ended with it. */
function createStatements(resource: MirroredResource) {
  const columns = listColumns(resource);
  const selectBegun = ({ fn }: SqlBuilder, isSelected: NumberCondition) => {
    const names = sql.join(columns.map(name => sql.id(name)));
    const versions = sql`SELECT ${names} FROM ${sql.table(`mirror.${resource.table}`)}
      UNION ALL ${selectPast(fn, resource, columns)}`;
    return selectVersions(resource, versions, columns, 'valid_from', isSelected(sql.id('h', 'version')));
  };
  const selectEnded = ({ fn }: SqlBuilder, isSelected: NumberCondition) => {
    const all = [...columns, ...END_COLUMNS];
    const versions = selectPast(fn, resource, all);
    return selectVersions(resource, versions, all, 'valid_to', isSelected(sql.id('h', 'closed_version')));
  };
  return {
    begunInRange: prepared((builder, range: Params<NumberRange>) => selectBegun(builder, isInRange(range))),
    endedInRange: prepared((builder, range: Params<NumberRange>) => selectEnded(builder, isInRange(range))),
    begunWith: prepared((builder, list: Params<NumberList>) => selectBegun(builder, isListed(builder, list))),
    endedWith: prepared((builder, list: Params<NumberList>) => selectEnded(builder, isListed(builder, list))),
  };
}

const STATEMENTS = RESOURCES.map(resource => ({ resource, ...createStatements(resource) }));

/**
 * Describes a change. The record of a new version contains what is written once and stays, and that of a removal contains the key.
 * Both contain how the version before ended.
 */
function describeChange(
  resource: MirroredResource,
  number: number,
  begun: Cells | undefined,
  ended: Cells | undefined,
): Observation {
  const version = begun ?? ended;
  const record: Record<string, Cells[string]> = { kind: 'change', resource: resource.resource };
  for (const name of begun === undefined ? resource.key : listRecordColumns(resource))
    if (name === 'document') record['document_sha256'] = hash('sha256', String(begun?.[name]), 'hex');
    else record[name] = version?.[name] ?? null;
  if (ended !== undefined) for (const [name, as] of ENDED_RECORD) record[as] = ended[name] ?? null;
  const { ended_version: endedVersion, valid_from: from, created_at: dated, amount_micro: micro } = record;
  const isCounted = hasCountedRows(resource) && begun !== undefined;
  return {
    kind: 'change',
    read_at: null,
    is_complete: null,
    number,
    subject: resource.owner === null ? null : textOrNull(version?.[resource.owner]),
    record,
    resource: resource.resource,
    ended: endedVersion == null ? null : Number(endedVersion),
    observed: isCounted ? String(from).slice(0, 7) : null,
    dated: isCounted && dated != null ? String(dated).slice(0, 7) : null,
    micro: isCounted && micro != null ? String(micro) : null,
    document: textOrNull(begun?.['document']),
    file: textOrNull(begun?.['file']),
  };
}

function describeChanges(
  resource: MirroredResource,
  begun: readonly Cells[],
  ended: readonly Cells[],
): Observation[] {
  const begunByNumber = new Map(begun.map(row => [Number(row['version']), row]));
  const endedByNumber = new Map(ended.map(row => [Number(row['closed_version']), row]));
  const numbers = new Set([...begunByNumber.keys(), ...endedByNumber.keys()]);
  return Array.from(numbers, number =>
    describeChange(resource, number, begunByNumber.get(number), endedByNumber.get(number)),
  );
}

function textOrNull(cell: Cells[string] | undefined): string | null {
  return typeof cell === 'string' ? cell : null;
}

/** Creates the part of the port that reads what the mirror observed. */
export function createMirrorChangeReader({ readMirror }: EvidenceDatabase): MirrorChanges {
  return {
    listChanges: async range => {
      const changes: Observation[] = [];
      for (const { resource, begunInRange, endedInRange } of STATEMENTS) {
        const [begun, ended] = await readMirror(begunInRange(range), endedInRange(range));
        changes.push(...describeChanges(resource, begun, ended));
      }
      return changes.toSorted((left, right) => Number(left.number) - Number(right.number));
    },
    listVersions: async (name, numbers) => {
      const statements = STATEMENTS.find(({ resource }) => resource.resource === name);
      if (statements === undefined) return [];
      const { resource, begunWith, endedWith } = statements;
      const list = { numbers: numberList.toTable(numbers.map(number => ({ number }))) };
      const [begun, ended] = await readMirror(begunWith(list), endedWith(list));
      return describeChanges(resource, begun, ended);
    },
  };
}
