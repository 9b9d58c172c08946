import { sql } from 'kysely';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { ALL_LISTS } from '../../src/query/lists/list-definitions.js';
import { createReaderPool } from '../../src/console/reader-pool.js';
import { openEngine } from '../../src/store/open-engine.js';
import type { Row } from '../../src/store/contract/tables.js';
import { parseObject } from '../../src/registry/json/json-object.js';
import * as parse from '../../src/registry/json/parse-objects.js';
import { beginCertificateWalk, streamPdf } from '../support/certificates.js';
import { createProjectAnswer } from '../../src/mirror/sync-session.js';
import { type ListItems, LIST_RESOURCES, type ListResource } from '../../src/resources/lists.js';
import { relation } from '../../src/query/lists/relation.js';
import { ENTRIES } from '../../src/resources/resources.js';
import { formatTonnes } from '../../src/text/tonnes.js';
import { runCommand } from '../support/command.js';
import { getPageText, visitConsole } from '../support/console.js';
import { ENGINES, type TestLibrary, type TestMirror, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { installation } from '../support/mirror/rows.js';
import { engineIndependent } from '../support/long.js';

const OWNER = 'organization-1';
/** The rows of each list, turn by turn: rows are there, appear, change, disappear and come back. */
const LIST_TURNS: readonly Readonly<Record<string, number>>[] = [
  { a: 1, b: 1, d: 1 },
  { a: 2, c: 1, d: 1 },
  { b: 2, c: 1, d: 1 },
];

const source = (sent: object) => parseObject(JSON.stringify(sent), 'what was sent');
const PROJECT = { project: { id: 'project-1', fullName: 'Peat bog' }, vintage: '2021', type: 'exPost' };

const SAYS: { readonly [Name in ListResource]: (id: string, edit: number) => ListItems[Name] } = {
  warehouse: (creditId, amount) => parse.parseCredit(source({ creditId, amount, ...PROJECT })),
  inventory: (creditId, amount) => parse.parseCredit(source({ creditId, amount, ...PROJECT })),
  reservations: (id, amount) => parse.parseReservation(source({ id, creditId: 'a', amount })),
  inventory_requests: (id, amount) => parse.parseInventoryRequest(source({ id, creditId: 'a', amount })),
  organization: (_, edit) => parse.parseOrganization(source({ id: OWNER, fullName: `Owner ${edit}` })),
  addresses: (id, edit) => parse.parseAddress(source({ id, address: '0x1', name: `Name ${edit}` })),
  members: (id, edit) => parse.parseMember(source({ id, fullName: `Member ${edit}` })),
  retirements: (id, edit) =>
    parse.parseRetirement(source({ id, amount: edit, beneficiary: `Edit ${edit}`, ...PROJECT })),
};

/** The contents of all tables of current rows. */
type TableContents = Readonly<Record<string, readonly Row[]>>;

interface Moment {
  readonly at: number;
  readonly photo: TableContents;
}

async function readAllLists(stage: TestMirror, turn: number): Promise<void> {
  const by = { claim: 1, startedAt: stage.clock.at, arrivedAt: stage.clock.at, trigger: 'delivery' };
  const updatedAt = new Date(stage.clock.at).toISOString();
  const installed = installation('installation-1', { updatedAt });
  await stage.mirror.writeInstallation({ ...by, installation: installed, state: 'active' });
  for (const resource of LIST_RESOURCES) await readListOfTurn(stage, resource, turn);
  const walk = await stage.mirror.beginProjects({ ...by, organizationId: OWNER });
  const project = parse.parseProject(source({ id: 'project-1', fullName: `Peat bog ${turn}` }));
  await walk.write([
    createProjectAnswer(project, { requestedAt: stage.clock.at, arrivedAt: stage.clock.at }),
  ]);
  await walk.finish(TRAFFIC);
}

async function readListOfTurn<Name extends ListResource>(
  stage: TestMirror,
  resource: Name,
  turn: number,
): Promise<void> {
  const rows = resource === 'organization' ? { it: turn } : (LIST_TURNS[turn] ?? {});
  const items = Object.entries(rows).map(([id, edit]) => SAYS[resource](id, edit));
  await stage.read(resource, items, { findGone: async gone => gone });
}

async function fetchCertificates(stage: TestMirror, turn: number): Promise<void> {
  const walk = await beginCertificateWalk(stage);
  for (const { retirementId: id } of await walk.listDue(10))
    await walk.store(id, streamPdf(`${id} ${turn}`), stage.clock.at);
  await walk.finish(TRAFFIC);
}

async function readCurrentTables({ reader }: TestLibrary): Promise<TableContents> {
  const photo: Record<string, readonly Row[]> = {};
  for (const { table } of ENTRIES) {
    photo[table] = await reader.all(sql<Row>`SELECT * FROM ${relation(table)}`);
  }
  return photo;
}

/** Changes all lists at each turn, and records the contents of the tables after each change. */
async function playMoments(library: TestLibrary): Promise<Moment[]> {
  const { stage } = library;
  const moments: Moment[] = [];
  for (const turn of LIST_TURNS.keys()) {
    for (const change of [readAllLists, fetchCertificates]) {
      stage.clock.at += MINUTE;
      await change(stage, turn);
      moments.push({ at: stage.clock.at, photo: await readCurrentTables(library) });
    }
  }
  stage.clock.at += MINUTE;
  return moments;
}

/** Returns every way to query the mirror as of an instant. */
async function createInstantQueries({ stage, env, reader }: TestLibrary) {
  const now = () => stage.clock.at;
  const url = env.MIRROR_DATABASE_URL;
  const database = url === undefined ? null : { url, queryUrl: null, pool: null };
  const engine = openEngine({ dataDir: env.DATA_DIR, diskReserveMb: null, database });
  const readers = createReaderPool(engine.openReader);
  onTestFinished(() => readers.close());
  const { open } = await visitConsole(engine.openReader, { readers, now });
  const page = async (path: string, at: string) =>
    await (await open(`${path}?as-of=${encodeURIComponent(at)}`)).text();
  const words = async (path: string, at: string) => getPageText(await page(path, at));
  const run = async (...argv: string[]) => await runCommand(argv, { env, now });
  const json = async (...argv: string[]) => JSON.parse((await run(...argv, '--json')).stdout);

  async function history(table: string, at: string): Promise<unknown[]> {
    const rows = await reader.all(sql<Row>`SELECT version FROM ${relation(`${table}_history`)}
      WHERE valid_from <= ${at} AND (valid_to IS NULL OR valid_to > ${at})`);
    return rows.map(row => String(row['version'])).toSorted();
  }
  async function onPage(path: string, at: string): Promise<number> {
    const [, body = ''] = /<tbody>([^]*?)<\/tbody>/.exec(await page(path, at)) ?? [];
    return body.split('<tr').length - 1;
  }
  async function exported(at: string): Promise<string[] | null> {
    const folder = join(stage.folder, `export-${at}`);
    if ((await run('certificates', 'export', folder, '--as-of', at)).exitCode !== 0) return null;
    const text = readFileSync(join(folder, 'certificates.csv'), 'utf8').trimEnd();
    const [columns = [], ...lines] = text.split(/\r?\n/).map(line => line.split(','));
    return lines.map(cells => EXPORTED.map(name => cells[columns.indexOf(name)]).join()).toSorted();
  }
  async function explained(id: string, at: string): Promise<unknown[]> {
    const { row, certificate } = await json('retirements', 'show', id, '--as-of', at);
    return [row?.valid_from, certificate?.sha256];
  }
  async function retired(id: string, at: string): Promise<string | undefined> {
    const said = await words(`/retirements/${id}`, at);
    return /No longer listed|was not in the mirror/.exec(said) === null
      ? /for Edit \d/.exec(said)?.[0]
      : undefined;
  }

  return async (at: string) => {
    const lists: Record<string, unknown> = {};
    for (const { path } of DATED) {
      const file = await page(`/${path}.json`, at);
      const rows: Row[] = file.includes('Nothing is known about this list at that time.')
        ? []
        : JSON.parse(file).rows;
      lists[path] = { rows: rows.map(datedAndOwned).toSorted(), onPage: await onPage(`/${path}`, at) };
    }
    const histories: Record<string, unknown> = {};
    for (const { table } of ENTRIES) histories[table] = await history(table, at);
    const list: Row[] = (await json('retirements', 'list', '--as-of', at, '--limit', '0')).rows;
    const asOf: Record<string, { rows: Row[] }> = await json('as-of', at, '--organization', OWNER);
    const [then, counts] = [await words('/', at), await page(`/organizations/${OWNER}`, at)];
    return {
      histories,
      lists,
      list: list.map(row => [row['id'], row['beneficiary'], row['organization_name']].join()).toSorted(),
      asOf: AS_OF.map(name => asOf[name]?.rows.map(row => String(row['valid_from'])).toSorted()),
      exported: await exported(at),
      explained: [await explained('a', at), await explained('b', at)],
      retired: [await retired('a', at), await retired('b', at)],
      stood: /([\d.,]+) t ex-post in the warehouses/.exec(then)?.[1],
      counts: AS_OF.map(name => new RegExp(`>${name}</a></td><td[^>]*>(\\d+)<`).exec(counts)?.[1]),
    };
  };
}

const EXPORTED = ['retirement_id', 'valid_from', 'sha256', 'beneficiary', 'organization_name'];
const AS_OF = ['warehouse', 'inventory', 'retirements'];
const DATED = ALL_LISTS.flatMap(({ name, past }) => (past === null ? [] : [{ path: name, ...past }]));

function datedAndOwned({ valid_from: from, organization_name: owner }: Row): string {
  return [from, owner].join();
}

/** Returns the expected answers from the contents that the tables had then. */
function listFromContents(photo: TableContents, isCertified: boolean) {
  const rowsOf = (table: string) => photo[table] ?? [];
  const one = (table: string, name: string, id: string) => rowsOf(table).find(row => row[name] === id);
  const [organization] = rowsOf('organizations');
  const owner = organization?.['full_name'] ?? null;
  const stored = rowsOf('certificates').filter(({ state }) => state === 'stored');
  const certified = (row: Row) => {
    const beneficiary = one('retirements', 'id', String(row['retirement_id']))?.['beneficiary'];
    const beside: Row = { ...row, beneficiary: beneficiary ?? null, organization_name: owner };
    return EXPORTED.map(name => beside[name]).join();
  };
  const microOf = (table: string) => rowsOf(table).reduce((sum, row) => sum + Number(row['amount_micro']), 0);
  const datesOf = (table: string) =>
    rowsOf(table)
      .map(row => String(row['valid_from']))
      .toSorted();
  const tables = ['warehouse_credits', 'inventory_credits', 'retirements'];
  return {
    histories: Object.fromEntries(
      ENTRIES.map(({ table }) => [
        table,
        rowsOf(table)
          .map(row => String(row['version']))
          .toSorted(),
      ]),
    ),
    lists: Object.fromEntries(
      DATED.map(({ path, from, columns }) => {
        const rows = rowsOf(from.replace('_history', ''));
        const named = columns.some(({ name }) => name === 'organization_name') ? owner : null;
        const shown = rows.map(row => datedAndOwned({ ...row, organization_name: named })).toSorted();
        return [path, { rows: shown, onPage: rows.length }];
      }),
    ),
    list: rowsOf('retirements')
      .map(row => [row['id'], row['beneficiary'], owner].join())
      .toSorted(),
    asOf: tables.map(datesOf),
    exported: isCertified ? stored.map(row => certified(row)).toSorted() : null,
    explained: ['a', 'b'].map(id => [
      one('retirements', 'id', id)?.['valid_from'],
      stored.find(row => row['retirement_id'] === id)?.['sha256'],
    ]),
    retired: ['a', 'b'].map(id => {
      const row = one('retirements', 'id', id);
      return row === undefined ? undefined : `for ${String(row['beneficiary'])}`;
    }),
    stood: formatTonnes(BigInt(microOf('warehouse_credits'))),
    counts: tables.map(table => String(rowsOf(table).length)),
  };
}

describe.each(ENGINES)('$name', ({ library }) => {
  engineIndependent.test(
    'T84 just before, at and just after each change, lists, certificates, as-of, exports, pages and _history views show exactly the state of that instant',
    async () => {
      const asked = await library();
      const moments = await playMoments(asked);
      const ask = await createInstantQueries(asked);
      for (const [index, { at, photo }] of moments.entries()) {
        const before = moments[index - 1];
        if (before !== undefined)
          expect(await ask(new Date(at - 1).toISOString())).toEqual(
            listFromContents(before.photo, index > 1),
          );
        for (const later of [0, 1])
          expect(await ask(new Date(at + later).toISOString())).toEqual(listFromContents(photo, index > 0));
      }
    },
  );
});
