import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TABLES } from '../../src/store/contract/tables.js';
import type { Reader } from '../../src/store/contract/reader.js';
import type { Value } from '../../src/store/contract/tables.js';
import { readAnswers } from '../../src/query/freshness/answers.js';
import { readAges, readStates, sumFreshness } from '../../src/query/freshness/read.js';
import * as asOf from '../../src/query/history/as-of.js';
import { readAvailability, readAvailable, sumStanding, wasEverHeld } from '../../src/query/available.js';
import { BY_OWNER, BY_PROJECT, sumStoodAt, sumWarehouses, ownersBy } from '../../src/query/sums.js';
import { sql } from '../../src/query/sql.js';
import { readCharts } from '../../src/query/charts.js';
import { readBalance } from '../../src/query/history/balance.js';
import * as changes from '../../src/query/history/changes.js';
import * as certificates from '../../src/query/certificates.js';
import * as registry from '../../src/query/at-registry.js';
import * as findings from '../../src/query/history/findings.js';
import * as inbox from '../../src/query/inbox/deliveries.js';
import { ask as askOf } from '../../src/query/lists/ask.js';
import { explainNothing } from '../../src/query/lists/explain-nothing.js';
import { findInstallation, findOrganization, findProject } from '../../src/query/find-named.js';
import type { Filter } from '../../src/query/lists/filter.js';
import * as find from '../../src/query/lists/find.js';
import type { Asked, List, ListRequest } from '../../src/query/lists/list.js';
import { readValues } from '../../src/query/lists/values.js';
import { ALL_LISTS, DELIVERIES, JOBS, MIRRORED, SYNCS, WAREHOUSE } from '../../src/query/lists/lists.js';
import {
  hasRows,
  readAll,
  readNumbered,
  readPage,
  readSumOf,
  streamRows,
} from '../../src/query/lists/read.js';
import * as people from '../../src/query/people.js';
import {
  countKnown,
  countKnownAt,
  countSummed,
  readKnown,
  readListCoverage,
  readMirrored,
} from '../../src/query/coverage.js';
import * as names from '../../src/query/names.js';
import { readOverview, readSums } from '../../src/query/overview.js';
import { findNumbered, search } from '../../src/query/search.js';
import { findContradictedColumns } from '../../src/sync/derived.js';
import { type Change, parseChange } from '../../src/text/change.js';
import { explainRow, rowsOf } from '../../src/query/history/explanation.js';
import { withEnds, withJobs } from '../../src/query/inbox/outcomes.js';
import * as causes from '../../src/query/inbox/rejected-webhooks.js';
import { readActivity, readProcesses, readPulse } from '../../src/query/inbox/activity.js';
import * as status from '../../src/query/status.js';
import * as progress from '../../src/query/sync-progress.js';
import { LIST_RESOURCES, LISTS } from '../../src/resources/lists.js';
import { ENTRIES } from '../../src/resources/resources.js';
import { BOTH, type Engine, MINUTE } from '../support/mirror/open.js';
import { NOON } from '../support/inbox.js';
import { atLength } from '../support/long.js';
import { fillInboxOddly, fillOddly, TEXTS } from '../support/odd-rows.js';
import type { Tables } from '../support/tables.js';

const ONE = 'organization-1';
const WHOSE = [null, ONE, 'Organization-1', 'nobody'];
const NOW = NOON + 20 * MINUTE;
const MOMENTS = [
  '0000-01-01T00:00:00.000Z',
  '-000001-12-31T23:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
].concat([1, 3].map(minutes => new Date(NOON + minutes * MINUTE).toISOString()));
const SINCE = ['0000-01-01T00:00:00.000Z', new Date(NOON + MINUTE).toISOString()];
const MARK = { job: 3, sync: 5, at: new Date(NOON + 2 * MINUTE).toISOString() };
const ASKED = [null, ONE, 'nobody'].flatMap(organizationId =>
  [[], [4, 5, 9, 14]].map(jobs => ({ mark: MARK, jobs, organizationId })),
);
const RESOURCES = ['projects', 'certificates', ...LIST_RESOURCES];

const NAMES = ['Zebra 0', 'äpfel 1', '😀 1', 'R0', ONE, 'h-1', 'q-2', 'm-3', 'project-1', 'installation-1'];
const OF_DATED = (['warehouse', 'inventory', 'retirements'] as const).flatMap(resource =>
  [ONE, 'nobody'].map(organizationId => ({ resource, organizationId })),
);
const AT_MOMENTS = OF_DATED.flatMap(each => MOMENTS.map(at => ({ ...each, at })));

const HELD = [
  { column: 'project_id', project: 'R0' },
  { column: 'project_id', project: 'no such' },
  { column: 'project_id', project: 'project-1' },
  { column: 'type', word: 'EX-POST' },
  { column: 'type', word: 'exTra' },
  { column: 'vintage', word: '2021' },
];

type Question = (reader: Reader) => readonly (() => unknown)[];

const about =
  <Item>(items: readonly Item[], ask: (reader: Reader, item: Item) => unknown): Question =>
  reader =>
    items.map(item => () => ask(reader, item));

const once = (ask: (reader: Reader) => unknown): Question => about([null], ask);

const pairs = <One, Other>(some: readonly One[], others: readonly Other[]) =>
  some.flatMap(one => others.map(other => [one, other] as const));

/** Of many that differ little every twentieth, where there is no time for all. */
const some = <Item>(items: readonly Item[]) => items.filter((_, place) => place % atLength(20, 1) === 0);

const LOOKED_FOR = [...TEXTS, 'ZEBRA', 'ÄPFEL', 'APF', '_'];
const SAID: Readonly<Record<Filter['fits'], readonly string[]>> = {
  id: ['R0', 'R', 'Zebra', 'Zebra 0', 'q-2', 'ä'],
  word: ['2021', '21', 'EX-POST', 'exTra', 'installed', 'pending', 'äpfel'],
  project: [...LOOKED_FOR, 'project-1', 'project-', 'R0'],
  part: [...LOOKED_FOR, '%', '\\'],
  number: ['2', '99'],
  year: ['2024', '0000'],
  from: ['2026-05-04', '0001-01-01', '2026-Q2'],
  until: ['2026-05-04', '9999-12-31', '2026'],
  organization: [ONE, 'Organization-1', 'nobody'],
  installation: ['installation-1'],
  choice: [],
  flag: ['yes'],
};

/** Every reader, and all that it is asked. */
const QUESTIONS: Readonly<Record<string, Question>> = {
  readAnswers: once(readAnswers),
  readKnownAt: about(
    some(pairs(pairs(RESOURCES, MOMENTS), [null, ONE, 'organization_1', 'Organization-1', 'nobody'])),
    (reader, [[resource, at], organizationId]) => asOf.readKnownAt(reader, { resource, organizationId, at }),
  ),
  readKnownOf: about(AT_MOMENTS, asOf.readKnownOf),
  sumStoodAt: about(MOMENTS, sumStoodAt),
  countAt: about(pairs(ENTRIES, MOMENTS), (reader, [entry, at]) =>
    asOf.countAt(reader, entry, { organizationId: ONE, at }),
  ),
  readAvailability: about(
    [{}, { organizationId: ONE }, { projectId: 'project-1' }, { projectId: 'nothing' }],
    readAvailability,
  ),
  readAvailable: about(
    [
      ...WHOSE.map(organizationId => ({ organizationId, where: [] })),
      ...HELD.map(condition => ({ organizationId: null, where: [condition] })),
    ],
    readAvailable,
  ),
  wasEverHeld: about(HELD, wasEverHeld),
  findOrganization: about(NAMES, findOrganization),
  findInstallation: about(NAMES, findInstallation),
  findProject: about(NAMES, findProject),
  sumStanding: about([1, Infinity], sumStanding),
  sumWarehouses: about(
    pairs([sql`${[ONE]}`, ownersBy('='), ownersBy('<>', ONE)], [BY_OWNER, BY_PROJECT]),
    (reader, [owners, by]) => sumWarehouses(reader, owners, by),
  ),
  readChanges: about(pairs([null, ONE], [null, ...SINCE]), (reader, [organizationId, since]) =>
    changes.readChanges(reader, { organizationId, resource: null, since, until: MOMENTS.at(-1) ?? null }),
  ),
  readSums: about([1, Infinity], (reader, most) => readSums(reader, most, most)),
  readOverview: about(pairs([NOW, 0], [1, Infinity]), (reader, [now, most]) =>
    readOverview(reader, now, snapshot => readSums(snapshot, most, most)),
  ),
  readNewest: about(
    [
      { organizationId: null, since: null, until: null },
      { organizationId: ONE, since: SINCE[1] ?? null, until: MOMENTS[4] ?? null },
    ],
    (reader, asked) => newestToTheFirst(reader, { ...asked, resource: null }),
  ),
  readBetween: about(['installation', 'retirements'], (reader, resource) =>
    changes.readBetween(reader, { organizationId: null, resource, since: null, until: null }, 0, 20_000),
  ),
  readLastNumber: once(async reader => (await changes.readLastNumber(reader)) > 0),
  readBalance: about([null, ONE], readBalance),
  readStates: about(
    [null, 'warehouse', 'organization', 'projects'].flatMap(resource =>
      [null, ONE].map(id => [resource, id] as const),
    ),
    async (reader, [resource, id]) => {
      const states = await readStates(reader, resource, id);
      return {
        areAllFresh: states?.areAllFresh,
        state: states?.standingOf({ organization_id: ONE, id: ONE })?.state,
      };
    },
  ),
  readStoredFiles: once(certificates.readStoredFiles),
  isNamed: once(async reader => {
    const named = [await certificates.isNamed(reader, 'no.pdf')];
    for (const { file } of await certificates.readStoredFiles(reader))
      named.push(await certificates.isNamed(reader, file));
    return named;
  }),
  readExport: about(pairs(WHOSE, [null, ...MOMENTS]), (reader, [organizationId, at]) =>
    certificates.readExport(reader, { organizationId, at }),
  ),
  readCoverage: about(pairs(WHOSE, [undefined, null, ['warehouse']]), (reader, [organizationId, resources]) =>
    certificates.readCoverage(reader, organizationId, resources),
  ),
  readVersions: about(ENTRIES, (reader, { table }) => registry.readVersions(reader, table, 3, 40)),
  readDocuments: about(pairs(ENTRIES, [ONE, 'installation-1', 'project-1']), (reader, [entry, id]) =>
    entry.hasDocument ? sorted(registry.readDocuments(reader, entry, id)) : null,
  ),
  readForgotten: once(people.readForgotten),
  readReadable: once(registry.readReadable),
  readNotCompared: once(registry.readNotCompared),
  readFindings: once(findings.readFindings),
  countFindings: once(findings.countFindings),
  readActivity: about([0, NOON, NOW], readActivity),
  readOrigin: once(names.readOrigin),
  readProjectNamedBy: about(pairs(['project-1', 'nobody'], [null, ...MOMENTS]), (reader, [id, at]) =>
    names.readProjectNamedBy(reader, id, at),
  ),
  readNamedProjects: about(['project-', 'project-1', 'ä', 'nobody'], find.readNamedProjects),
  findMostDuplicated: about(SINCE, inbox.findMostDuplicated),
  readSignedText: about([1, 2, 3, 4], async (reader, id) =>
    inbox.readSignedText(
      reader,
      (await readNumbered(reader, DELIVERIES, id)) ?? { stored_text_id: 0, signed_text_sha256: '' },
    ),
  ),
  readSignedTexts: once(inbox.readSignedTexts),
  readByName: about(
    some(pairs(pairs(ENTRIES, NAMES), [null, ONE])),
    (reader, [[entry, name], organizationId]) => find.readByName(reader, entry, name, { organizationId }),
  ),
  readBeginnings: about(
    pairs(ENTRIES, ['', 'organization-', 'Zebra', 'ä', '😀', ONE]),
    (reader, [entry, text]) => find.readBeginnings(reader, entry, text),
  ),
  withEnds: once(async reader => {
    const rows = await readAll(reader, JOBS, [], null);
    const inPart = { state: 'done', outcome: 'read in part: retirements failed (503)' };
    return await withEnds(reader, [...rows, ...rows.map(row => ({ ...row, ...inPart }))]);
  }),
  withJobs: once(reader =>
    withJobs(reader, [{ job_id: 1 }, { job_id: 3 }, { job_id: 99 }, { job_id: null }]),
  ),
  readHistory: about(pairs(ENTRIES, NAMES), (reader, [entry, name]) => find.readHistory(reader, entry, name)),
  readMemberNumbers: once(async reader => {
    const isTheirs = ({ document }: { document: string }) => document.includes('apfel@example.com');
    return (await people.readMemberNumbers(reader, isTheirs)).length;
  }),
  readMentions: once(reader =>
    people.readMentions(reader, document => document.includes('apfel@example.com')),
  ),
  countKnown: once(countKnown),
  countSummed: about(['<>', '='] as const, countSummed),
  countKnownAt: about(MOMENTS, countKnownAt),
  readKept: once(reader => inbox.readKept(reader)),
  readDeliveriesOf: about([[], Array.from({ length: 100 }, (_, id) => id)], inbox.readDeliveriesOf),
  readMirrored: once(readMirrored),
  sumFreshness: about(pairs(RESOURCES, WHOSE), (reader, [resource, organizationId]) =>
    sumFreshness(reader, resource, organizationId),
  ),
  findNumbered: about([0, 1, 2, 3, 999_999], findNumbered),
  readNameOf: about(pairs([ONE, 'nobody'], [null, ...MOMENTS]), (reader, [id, at]) =>
    names.readNameOf(reader, id, at),
  ),
  readOrganizationNames: once(names.readOrganizationNames),
  readNames: about(['organizations', 'projects', 'installations'] as const, names.readNames),
  readPage: askedOf(ALL_LISTS.flatMap(asksOf), everyPage),
  streamRows: askedOf(some(ALL_LISTS.flatMap(asksOf)), (reader, request) =>
    drained(streamRows(reader, request, 7)),
  ),
  readSumOf: askedOf(some(asksOf(WAREHOUSE)), (reader, request) => readSumOf(reader, request, [ONE])),
  explainNothing: askedOf(ALL_LISTS.flatMap(asksOf), explainNothing),
  readAll: about([JOBS, SYNCS, DELIVERIES], (reader, list) =>
    readAll(reader, list, [{ column: 'id', above: 2 }], null),
  ),
  readNumbered: about(pairs([JOBS, DELIVERIES], [1, 2, 3, 4, 5, 99]), (reader, [list, id]) =>
    readNumbered(reader, list, id),
  ),
  hasRows: about(pairs([JOBS, SYNCS], [ONE, 'nobody']), (reader, [list, id]) =>
    hasRows(reader, { list, at: null, where: [{ column: 'organization_id', is: id }] }),
  ),
  search: about(['R0', 'a', 'ÄPFEL', 'o', '%', 'answer', '\\', ONE], search),
  rowsOf: about([LISTS.retirements, LISTS.warehouse], async (reader, entry) =>
    rowsOf(entry, await find.readHistory(reader, entry, 'R0')),
  ),
  explainRow: about(some(pairs(ENTRIES, pairs(NAMES, MOMENTS))), async (reader, [entry, [name, at]]) => {
    const versions = await find.readHistory(reader, entry, name);
    const ground = { reader, at, inspect: async () => null, contradicted: findContradictedColumns };
    return await explainRow(ground, entry, versions);
  }),
  readSyncsOf: about([1, 2, 3], (reader, jobId) => inbox.readSyncsOf(reader, ONE, jobId)),
  readPulse: about([0, NOW], async (reader, now) =>
    (await readPulse(reader, now)).replaceAll(/\d+/g, 'a number'),
  ),
  sumRejected: about(SINCE, causes.sumRejected),
  readRejectionCauses: about([0, NOW, NOON], causes.readRejectionCauses),
  readProcesses: about(['work', 'receive'] as const, readProcesses),
  readInstallations: once(registry.readInstallations),
  readProjects: once(registry.readProjects),
  readInstalled: once(reader => registry.readInstalled(reader, ONE)),
  readFirstCredit: once(reader => registry.readFirstCredit(reader, ONE)),
  readStatus: about([NOW, 0], status.readStatus),
  readOrganizations: about([1, 2, 3], status.readOrganizations),
  readOrganization: about([ONE, 'nobody'], status.readOrganization),
  sumCertificates: once(status.sumCertificates),
  readKnown: about([null, ONE], readKnown),
  readCharts: about([NOON, NOW], readCharts),
  readListCoverage: about(['warehouse', 'retirements'], readListCoverage),
  readChoices: about(
    pairs(['organizations', 'projects', 'installations'] as const, [null, ...MOMENTS]),
    (reader, [table, at]) => names.readChoices(reader, table, at),
  ),
  readValues: about(
    pairs(
      MIRRORED.filter(({ filters }) => 'vintage' in filters),
      [null, ...MOMENTS],
    ),
    (reader, [list, at]) => readValues(reader, list, 'vintage', at),
  ),
  readCertificateCounts: once(status.readCertificateCounts),
  readAges: once(readAges),
  readTargets: about(WHOSE, registry.readTargets),
  readMark: about([NOW], progress.readMark),
  readFollowed: about(ASKED, (reader, asked) => progress.readFollowed(reader, asked, NOW)),
  isAnybodyAtWork: about([NOON, NOW], progress.isAnybodyAtWork),
  readSynced: about(ASKED, (reader, asked) => progress.readSynced(reader, asked, RESOURCES)),
};

interface Request {
  readonly list: List;
  readonly texts: Readonly<Record<string, string>>;
  readonly at: string | null;
}

/** Asks a list as a person would; what cannot be asked answers why. */
function askedOf(
  requests: readonly Request[],
  answer: (reader: Reader, request: ListRequest) => unknown,
): Question {
  return about(requests, async (reader, { list, texts, at }) => {
    const found = await askOf(reader, list, { of: name => texts[name] ?? null, at, now: NOW });
    return 'fault' in found ? found : await answer(reader, found);
  });
}

/** Each list by each of its filters, and as of instants. */
function asksOf(list: List): Request[] {
  const filters = Object.entries(list.filters).flatMap(([name, filter]) =>
    (filter.fits === 'choice' ? filter.choices : SAID[filter.fits]).map(text => ({ [name]: text })),
  );
  const moments = list.past === null ? [null] : [null, ...MOMENTS];
  return moments.flatMap(at =>
    [{}, ...(at === null ? filters : filters.slice(0, 6))].map(texts => ({ list, texts, at })),
  );
}

/** In groups, each before the one before, and the same in one. */
async function newestToTheFirst(reader: Reader, asked: changes.ChangesAsked): Promise<unknown> {
  const found: Change[] = [];
  let group = await changes.readNewest(reader, asked, null, 100);
  while (group.length > 0) {
    found.push(...group);
    group = await changes.readNewest(reader, asked, found.at(-1)?.number ?? 0, 100);
  }
  const all: Change[] = [];
  for await (const row of changes.readChanges(reader, asked)) all.push(parseChange(row));
  expect(found.toReversed()).toEqual(all);
  return found;
}

/** Each from where the one before has ended. The statement that is shown is each engine's own. */
async function everyPage(
  reader: Reader,
  asking: Asked,
  after: readonly Value[] | null = null,
): Promise<unknown[]> {
  const { sql: _, next, ...page } = await readPage(reader, { ...asking, after, limit: 15 });
  return [page, ...(next === null ? [] : await everyPage(reader, asking, next))];
}

/** What readers are made of. */
const PARTS = `
  adviceFor ask beginsWith byChoice byDays byFlag byId byOwner byPart byState byWord byYear colourOf columns
  compareStandings count coverageOf every exact findByName findFailing findTroubles first freshnessOf gapsIn idsOf inSql isFrozen
  isUpperBound missing textOf
  isNamedBy joined knownIn largest listedIn limit newestInSql ofAnyOrganization ofOne only ownersBy plain
  rankOf reasonsOf sayOldest selectInstalled sentenceOf shownOf sql stoodAt table verdictOn withFreshness wordsOf worstOf
`.match(/\w+/g);

async function sorted(rows: AsyncIterable<unknown>): Promise<string[]> {
  return (await drained(rows)).map(row => JSON.stringify(row)).toSorted();
}

async function drained(rows: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

const isStream = (answer: unknown): answer is AsyncIterable<unknown> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;

/** Numbers have gaps on either engine, and not the same ones: what stands for each is its place among all. */
const NUMBERS = ['version', 'closed_version', 'retirement_version', 'number'];

async function placesOf({ column }: Tables): Promise<Map<unknown, number>> {
  const asked = Object.entries(TABLES).flatMap(([table, columns]) =>
    NUMBERS.filter(name => !table.startsWith('inbox.') && name in columns).map(
      name => `SELECT ${name} FROM ${table}`,
    ),
  );
  const numbers = await column<number | null>(`${asked.join(' UNION ')} ORDER BY 1`);
  return new Map(numbers.filter(number => number !== null).map((number, place) => [number, place]));
}

interface Asking {
  readonly reader: Reader;
  readonly places: ReadonlyMap<unknown, number>;
}

/** To the byte. What was read at another instant is of another age. */
function shown(answer: unknown, places: Asking['places']): string {
  const worded = (name: string, value: unknown) => {
    if (NUMBERS.includes(name) && value !== null) return places.get(value);
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof Set) return [...value];
    return typeof value === 'number' && /age_?seconds|seconds_left/i.test(name) ? 'an age' : value;
  };
  return JSON.stringify(answer, worded, 1);
}

async function answersOf({ reader, places }: Asking, question: Question, most: number): Promise<string> {
  const answers: unknown[] = [];
  for (const ask of question(reader).slice(0, most)) {
    const answer = ask();
    answers.push(await (isStream(answer) ? drained(answer) : answer));
  }
  return shown(answers, places);
}

async function libraryOf({ library }: Engine, isFilled: boolean): Promise<Asking> {
  const { stage, tables, reader, writeFreshnessFacts } = await library();
  if (isFilled) {
    await fillOddly(stage);
    await fillInboxOddly(tables);
    await tables.change(
      'UPDATE syncs SET newest_delivery_id = (SELECT min(id) FROM inbox.deliveries), job_id = 3',
    );
    await writeFreshnessFacts(NOW);
  }
  return { reader, places: await placesOf(stage.db) };
}

async function compareAll(isFilled: boolean): Promise<void> {
  const most = isFilled ? Infinity : 3;
  const [first, ...others] = await Promise.all(BOTH.map(engine => libraryOf(engine, isFilled)));
  if (first === undefined) throw new Error('expected engines');
  for (const [name, question] of Object.entries(QUESTIONS)) {
    const expected = await answersOf(first, question, most);
    if (isFilled) expect.soft(expected.replaceAll(/null|false|\W/g, ''), name).not.toBe('');
    for (const other of others) expect.soft(await answersOf(other, question, most), name).toBe(expected);
  }
}

test('every exported query function is tested here', async () => {
  const folder = new URL('../../src/query/', import.meta.url);
  const exported: string[] = [];
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const module: Record<string, unknown> = await import(new URL(file, folder).href);
    exported.push(...Object.keys(module).filter(name => typeof module[name] === 'function'));
  }
  const asked = new Set(Object.keys(QUESTIONS).map(name => name.split(' ')[0] ?? ''));
  expect(exported.toSorted()).toEqual([...asked, ...(PARTS ?? [])].toSorted());
});

test('each query returns the same bytes on both engines, whatever the registry sent', () => compareAll(true));

test('each query returns the same on both engines for an empty mirror', () => compareAll(false));
