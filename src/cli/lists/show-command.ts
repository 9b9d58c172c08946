import type { Reader } from '../../store/contract/reader.js';
import { explainRow, groupVersions, selectRowColumns } from '../../query/history/explanation.js';
import { describeExplanationReason } from '../../query/history/explanation-reason.js';
import { describeNotes } from '../../query/answer/describe-notes.js';
import { toNotesData } from '../../query/answer/serialize.js';
import { readRowsById } from '../../query/lists/find-by-id.js';
import { readNumbered } from '../../query/lists/read-rows.js';
import type { List } from '../../query/lists/list-type.js';
import { freshnessOf, readStates } from '../../query/freshness/read-freshness.js';
import { type ResourceEntry, getIdColumn } from '../../resources/entry.js';
import { type Command, defineCommand } from '../define-command.js';
import { measureFile } from '../certificate-files.js';
import type { CommandContext } from '../context.js';
import { createCheckError, createNotFoundError } from '../command-error.js';
import { findRowVersions, findOptionalOrganizationId } from '../find-rows.js';
import {
  definePastDate,
  ORGANIZATION_OPTION,
  makeRequired,
  parseWholeNumber,
  defineText,
} from '../options.js';
import type { Row } from '../../store/contract/tables.js';
import { formatReservationCommands } from '../../text/reservation-commands.js';
import { formatRowSheet } from '../output/row-sheet.js';

/** The parts of the output of `show` besides the columns of the row. */
interface RowExtras {
  /** Further fields of the JSON output. */
  readonly jsonFields?: Readonly<Record<string, unknown>>;
  /** Lines for stdout. */
  readonly lines?: readonly string[];
  /** Lines for stderr. */
  readonly notices?: readonly string[];
}

/** Creates a subcommand such as `jobs show 46`, which prints one row and optional details. */
export function createNumberedShowCommand(
  list: List,
  readExtras: (row: Row, reader: Reader) => Promise<RowExtras> = async () => ({}),
): Command {
  return defineCommand({
    summary: `Show one ${list.singular} with every column`,
    args: { id: makeRequired(defineText('id', `number of the ${list.singular}`)) },
    formats: { json: 'print as JSON' },
    run: async (context, { id }) => {
      const row = await findNumberedRow(context, list, id);
      const { jsonFields = {}, lines = [], notices = [] } = await readExtras(row, await context.openReader());
      if (context.format === 'json') return await context.printJson({ ...row, ...jsonFields });
      await context.printLines(...formatRowSheet(row), ...lines);
      return context.printNotice(...notices);
    },
  });
}

/** Creates a subcommand such as `retirements show ID` that prints a row with its history. */
export function createShowCommand(list: List, entry: ResourceEntry): Command {
  return defineCommand({
    summary: `Show one ${list.singular} with its history`,
    details:
      "Prints every column, the sync that observed the row, its earlier versions and the registry's JSON.",
    args: {
      id: makeRequired(
        defineText('id', `id of the ${list.singular} (column ${list.idColumn}), or its first characters`),
      ),
    },
    options: {
      organization: ORGANIZATION_OPTION,
      asOf: definePastDate('show the row as of this date'),
    },
    formats: { json: 'print as JSON' },
    run: async (context, { id, organization, asOf }) => {
      const organizationId = await findOptionalOrganizationId(await context.openReader(), organization);
      const request = { id, organizationId, instant: asOf?.until ?? null };
      const rows = await readRowsWithProvenance(context, list, entry, request);
      const data = rows.map(({ notes, ...row }) => ({ ...row, ...toNotesData(notes) }));
      if (context.format === 'json') await context.printJson(data.length === 1 ? data[0] : data);
      else for (const row of rows) await printRowWithProvenance(context, list, row);
      assertAnyRowExisted(rows);
    },
  });
}

/** Returns the row with this number, such as job 46. Throws a not-found error if there is none. */
export async function findNumberedRow(context: CommandContext, list: List, id: string): Promise<Row> {
  const number = parseWholeNumber(`The number of the ${list.singular}`, id);
  const row = await readNumbered(await context.openReader(), list, number);
  if (row !== null) return row;
  throw createNotFoundError(
    `There is no ${list.singular} ${id}.`,
    `See "carbon-mirror ${list.name} list".${isPruned(list) ? ' Finished ones are kept for RETENTION_DAYS.' : ''}`,
  );
}

/** Whether old rows of a list of the mirror's own are deleted. */
function isPruned({ resource, name }: List): boolean {
  return resource === null && name !== 'orders';
}

interface RowRequest {
  readonly id: string;
  /** Null for every organization. */
  readonly organizationId: string | null;
  /** Null for the present. */
  readonly instant: string | null;
}

/** A row as of an instant, with its provenance and versions. */
type RowWithProvenance = Awaited<ReturnType<typeof readRowsWithProvenance>>[number];

/** Finds rows by id and adds their provenance and past versions. */
async function readRowsWithProvenance(
  context: CommandContext,
  list: List,
  entry: ResourceEntry,
  { id, organizationId, instant: requestedInstant }: RowRequest,
) {
  const { findContradictedColumns: contradicted } = await import('../../sync/derived-columns.js');
  const [reader, pdfs] = [await context.openReader(), await context.openPdfs()];
  const instant = requestedInstant ?? new Date(context.io.now()).toISOString();
  const ground = { reader, at: instant, inspect: (file: string) => measureFile(pdfs, file), contradicted };
  // Several rows match if organizations share a credit id.
  const explainedRows = [];
  for (const allVersions of groupVersions(entry, await findRowVersions(reader, entry, id, organizationId))) {
    const explained = await explainRow(ground, entry, allVersions);
    const currentRow =
      requestedInstant === null ? await readCurrentRow(reader, list, entry, allVersions) : null;
    const versions = allVersions.filter(version => String(version['valid_from']) <= instant);
    explainedRows.push({ ...explained, row: currentRow ?? explained.row, versions });
  }
  return explainedRows;
}

/** Reads the newest of the versions with its freshness. Returns null if the row no longer exists. */
async function readCurrentRow(
  reader: Reader,
  list: List,
  entry: ResourceEntry,
  versions: readonly Row[],
): Promise<Row | null> {
  const newest = versions.at(-1) ?? {};
  const rows = await readRowsById(reader, entry, String(newest[getIdColumn(entry)]));
  const row = rows.find(({ version }) => version === newest['version']);
  if (row === undefined) return null;
  const states = await readStates(reader, list.resource, null);
  return { ...selectRowColumns(row), ...(states !== null && freshnessOf(row, states)) };
}

/** Prints a row with its provenance, certificate, past versions and JSON. */
async function printRowWithProvenance(
  { printLines, printRows }: CommandContext,
  list: List,
  explained: RowWithProvenance,
): Promise<void> {
  const { table, id, at, row, document, versions, certificate } = explained;
  const notes = describeNotes(explained.notes).map(line => `  ${line}`);
  await printLines(`${table} ${id}, as observed by ${at}`, '', ...(row === null ? [] : formatRowSheet(row)));
  if (row !== null && list.name === 'warehouse') await printLines(...describeReserving(row), '');
  await printLines(...explained.reasons.map(describeExplanationReason));
  if (certificate !== null)
    await printLines(
      `Certificate: sha256 ${certificate.sha256}; the file ${certificate.file} is ${FILE_STATES[certificate.state] ?? certificate.state}.`,
    );
  if (notes.length > 0) await printLines('', 'Not known:', ...notes);
  if (versions.length > 1) {
    await printLines('', 'Versions:');
    await printRows(chooseVersionColumns(list, versions), versions);
  }
  if (document !== null) await printLines('', "The registry's JSON:", ...document.split('\n'));
  await printLines('');
}

/** Returns the commands that reserve a credit and retire the reservation. */
function describeReserving(row: Row): string[] {
  const [organizationId, creditId, amount] = ['organization_id', 'credit_id', 'amount_exact'].map(name =>
    String(row[name] ?? ''),
  );
  if (!organizationId || !creditId || !amount) return [];
  return ['To reserve and retire it:', ...formatReservationCommands({ organizationId, creditId, amount })];
}

/** How `show` describes the state of a certificate file. */
const FILE_STATES: Readonly<Record<string, string>> = {
  'as it was stored': 'unchanged since it was downloaded',
  changed: 'changed since it was downloaded',
  missing: 'missing',
};

/** Throws if none of the rows existed at the requested instant. */
function assertAnyRowExisted(rows: readonly RowWithProvenance[]): void {
  const [first] = rows;
  if (first === undefined || rows.some(({ row }) => row !== null)) return;
  throw createCheckError(`The mirror had no row "${first.id}" in ${first.table} at ${first.at}.`);
}

/** Columns that do not help to compare versions. */
const OMITTED_COLUMNS = ['version', 'organization_id', 'sync_id', 'closed_by', 'closed_version', 'document'];
const DATE_COLUMNS = ['valid_from', 'valid_to'];

/** Chooses the columns for a table of row versions: dates, all changed columns, and at most five unchanged ones. */
function chooseVersionColumns(list: List, versions: readonly Row[]): string[] {
  const omitted = [...OMITTED_COLUMNS, ...DATE_COLUMNS];
  const comparable = Object.keys(versions[0] ?? {}).filter(name => !omitted.includes(name));
  const changed = comparable.filter(name => new Set(versions.map(version => version[name])).size > 1);
  const unchanged = list.columns
    .map(({ name }) => name)
    .filter(name => comparable.includes(name) && !changed.includes(name));
  return [...DATE_COLUMNS, ...changed, ...unchanged.slice(0, 5)];
}
