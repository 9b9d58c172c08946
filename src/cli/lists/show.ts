import type { Reader } from '../../store/contract/reader.js';
import { explainRow, reasonsOf, rowsOf, shownOf } from '../../query/history/explanation.js';
import { readByName } from '../../query/lists/find.js';
import { readNumbered } from '../../query/lists/read.js';
import type { List } from '../../query/lists/list.js';
import { freshnessOf, readStates } from '../../query/freshness/read.js';
import { type ResourceEntry, getIdColumn } from '../../resources/entry.js';
import { type Command, command } from '../command.js';
import { measure } from '../certificate-files.js';
import type { Context } from '../context.js';
import { checkFault, notThereFault } from '../exit.js';
import { findVersions, organizationOrAll } from '../find/in-mirror.js';
import { date, HOW_NAMED, needed, readNumber, text } from '../options.js';
import type { Row } from '../../store/contract/tables.js';
import { sheet } from '../output/sheet.js';

/** What there is to a row beside its columns: further keys of its JSON, and lines for people. */
interface Beside {
  readonly also?: Readonly<Record<string, unknown>>;
  readonly prints?: readonly string[];
  readonly says?: readonly string[];
}

/** `show ID` of what is numbered here: every column, and what else there is to it. */
export function showNumbered(
  list: List,
  look: (row: Row, reader: Reader) => Promise<Beside> = async () => ({}),
): Command {
  return command({
    says: `Show one ${list.one}, with every column`,
    words: { id: needed(text('id', 'its number')) },
    prints: { json: 'print it as JSON' },
    run: async (context, { id }) => {
      const row = await findNumbered(context, list, id);
      const { also = {}, prints = [], says = [] } = await look(row, await context.reader());
      if (context.format === 'json') return await context.value({ ...row, ...also });
      await context.print(...sheet(row), ...prints);
      return context.say(...says);
    },
  });
}

/** `show ID`: every column, why it stands so, what it was before, and the registry's whole object. */
export function showCommand(list: List, entry: ResourceEntry): Command {
  return command({
    says: `Show one of the ${list.many} as it is or was: every column, which read showed it, earlier versions, and the registry's whole object`,
    words: { id: needed(text('id', `value of the column ${list.named}, or its beginning`)) },
    options: {
      organization: text('name', `whose it is: ${HOW_NAMED}`),
      asOf: date('as it stood then: the end of'),
    },
    prints: { json: 'print it as JSON' },
    run: async (context, { id, organization, asOf }) => {
      const organizationId = await organizationOrAll(await context.reader(), organization);
      const all = await explainAll(context, list, entry, { id, organizationId, at: asOf?.until ?? null });
      if (context.format === 'json') await context.value(all.length === 1 ? all[0] : all);
      else for (const each of all) await writeOne(context, entry, each);
      demandListed(all);
    },
  });
}

/** A row of a list that is called by its number. */
export async function findNumbered(context: Context, list: List, id: string): Promise<Row> {
  const found = await readNumbered(
    await context.reader(),
    list,
    readNumber(`The number of the ${list.one}`, id),
  );
  if (found !== null) return found;
  throw notThereFault(
    `There is no ${list.one} ${id}.`,
    `See "carbon-mirror ${list.name} list"; what is over is kept for RETENTION_DAYS.`,
  );
}

interface Asked {
  readonly id: string;
  readonly organizationId: string | null;
  /** Null for now. */
  readonly at: string | null;
}

type Shown = Awaited<ReturnType<typeof explainAll>>[number];

/** One for each row of that name. */
async function explainAll(
  context: Context,
  list: List,
  entry: ResourceEntry,
  { id, organizationId, at }: Asked,
) {
  const { contradictedColumns: contradicted } = await import('../../sync/derived.js');
  const [reader, pdfs] = [await context.reader(), await context.pdfs()];
  const instant = at ?? new Date(context.io.now()).toISOString();
  const ground = { reader, at: instant, inspect: (file: string) => measure(pdfs, file), contradicted };
  const all = [];
  for (const known of rowsOf(entry, await findVersions(reader, entry, id, organizationId))) {
    const explained = await explainRow(ground, entry, known);
    const now = at === null ? await readNow(reader, list, entry, known) : null;
    const versions = known.filter(version => String(version['valid_from']) <= instant);
    all.push({ ...explained, row: now ?? explained.row, versions });
  }
  return all;
}

/** The newest of its versions as its list has it now, with what is worked out of it; null where it is gone. */
async function readNow(
  reader: Reader,
  list: List,
  entry: ResourceEntry,
  known: readonly Row[],
): Promise<Row | null> {
  const newest = known.at(-1) ?? {};
  const rows = await readByName(reader, entry, String(newest[getIdColumn(entry)]));
  const row = rows.find(({ version }) => version === newest['version']);
  if (row === undefined) return null;
  const states = await readStates(reader, list.resource, null);
  return { ...shownOf(row), ...(states !== null && freshnessOf(row, states)) };
}

async function writeOne({ print, rows }: Context, entry: ResourceEntry, shown: Shown): Promise<void> {
  const { table, id, at, row, document, versions, certificate, not_known: gaps } = shown;
  await print(`${table} ${id}, as observed by ${at}`, '', ...(row === null ? [] : sheet(row)));
  await print(...reasonsOf(shown));
  if (certificate !== null)
    await print(
      `Certificate: sha256 ${certificate.sha256}; the file ${certificate.file} is ${certificate.state}.`,
    );
  if (gaps.length > 0) await print('', 'Not known:', ...gaps.map(gap => `  ${gap}`));
  if (versions.length > 1) {
    await print('', 'Versions:');
    await rows(changing(entry, versions), versions);
  }
  if (document !== null) await print('', "The registry's own object:", ...document.split('\n'));
  await print('');
}

function demandListed(all: readonly Shown[]): void {
  const [first] = all;
  if (first === undefined || all.some(({ row }) => row !== null)) return;
  throw checkFault(`The mirror had no row "${first.id}" in ${first.table} at ${first.at}.`);
}

/** Of no use to a person who compares versions. */
const BESIDE = ['version', 'organization_id', 'sync_id', 'closed_by', 'closed_version', 'document'];
const DATES = ['valid_from', 'valid_to'];

/** The dates first, then the columns whose value is not the same in all versions, then some that people read. */
function changing({ display: shown }: ResourceEntry, versions: readonly Row[]): string[] {
  const all = Object.keys(versions[0] ?? {}).filter(name => ![...BESIDE, ...DATES].includes(name));
  const moves = all.filter(name => new Set(versions.map(version => version[name])).size > 1);
  const named = shown.columns.filter(name => all.includes(name) && !moves.includes(name));
  return [...DATES, ...moves, ...named.slice(0, 5)];
}
