// The calls of every exported query function, with a mirror full of odd rows to ask. test/contract/readers.test.ts compares the
// answers of both engines, and test/query/approved-answers.test.ts compares them with the approved ones.
import { expect } from 'vitest';
import { TABLES, type Value } from '../../src/store/contract/tables.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { readLatestAnswers } from '../../src/query/freshness/latest-answers.js';
import {
  readListStateCounts,
  readStates,
  readStatesOfRows,
  sumFreshness,
} from '../../src/query/freshness/read-freshness.js';
import * as asOf from '../../src/query/history/as-of.js';
import {
  readAvailability,
  readAvailable,
  readWarehouseCounts,
  wasEverHeld,
} from '../../src/query/available.js';
import { BY_OWNER, BY_PROJECT, sumWarehouses, selectOwnersByFreshness } from '../../src/query/sums.js';
import { readCharts } from '../../src/query/charts.js';
import { collectBalance, readBalance } from '../../src/query/history/balance.js';
import * as changes from '../../src/query/history/changes.js';
import * as certificates from '../../src/query/certificates.js';
import * as registry from '../../src/query/at-registry.js';
import * as findings from '../../src/query/history/findings.js';
import * as inbox from '../../src/query/inbox/deliveries.js';
import { parseListRequest } from '../../src/query/lists/parse-request.js';
import { findUnmatchedFilters } from '../../src/query/lists/unmatched-filters.js';
import { findInstallation, findOrganization, findProject } from '../../src/query/names.js';
import type { Filter } from '../../src/query/lists/filter.js';
import * as find from '../../src/query/lists/find-by-id.js';
import type { ListSelection, List, ListRequest } from '../../src/query/lists/list-type.js';
import { readColumnValues } from '../../src/query/lists/column-values.js';
import {
  ALL_LISTS,
  DELIVERIES,
  JOBS,
  MIRRORED,
  RETIREMENTS,
  SYNCS,
} from '../../src/query/lists/list-definitions.js';
import { hasRows, readAll, readNumbered, readPage, streamRows } from '../../src/query/lists/read-rows.js';
import { readList } from '../../src/query/lists/read-list.js';
import { readTotals } from '../../src/query/lists/totals.js';
import { GROUPINGS, readGroupTotals } from '../../src/query/lists/group-totals.js';
import { ALL_COMPARED_ROWS, COMPARABLE_LISTS, compareList } from '../../src/query/history/comparison.js';
import { readLastRestatement } from '../../src/query/history/restated-fields.js';
import { readFailedJobs, readStaleAndFreshLists } from '../../src/query/evaluation.js';
import * as orders from '../../src/query/order-targets.js';
import { readInactiveAt } from '../../src/query/history/inactive-at.js';
import { readWarehousesAt } from '../../src/query/history/warehouses-at.js';
import * as people from '../../src/query/people.js';
import {
  countInstalled,
  countSummedOrganizations,
  readKnownOrganizations,
  readListCoverage,
  readListNotes,
  readMirrored,
} from '../../src/query/coverage.js';
import * as names from '../../src/query/names.js';
import { readOverview, readSums } from '../../src/query/overview.js';
import { findNumbered, search } from '../../src/query/search.js';
import { findContradictedColumns } from '../../src/sync/derived-columns.js';
import { type Change, parseChange } from '../../src/text/describe-change.js';
import { answerResourcesAt } from '../../src/query/history/resources-at.js';
import { explainRow, groupVersions } from '../../src/query/history/explanation.js';
import { addEndColumn, addJobs } from '../../src/query/inbox/outcomes.js';
import * as causes from '../../src/query/inbox/rejected-webhooks.js';
import { readActivity, readProcesses, readStateFingerprint } from '../../src/query/inbox/activity.js';
import * as status from '../../src/query/status.js';
import * as progress from '../../src/query/sync-progress.js';
import { LIST_RESOURCES, LISTS } from '../../src/resources/lists.js';
import { ENTRIES } from '../../src/resources/resources.js';
import { type TestEngine, MINUTE } from './mirror/open.js';
import { NOON } from './inbox.js';
import { chooseLength } from './long.js';
import { fillInboxWithOddRows, fillWithOddRows, TEXTS } from './odd-rows.js';
import type { Tables } from './tables.js';

const ONE = 'organization-1';
const WHOSE = [null, ONE, 'Organization-1', 'nobody'];
const NOW = NOON + 20 * MINUTE;
const MOMENTS = [
  '0000-01-01T00:00:00.000Z',
  '-000001-12-31T23:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
].concat([1, 3].map(minutes => new Date(NOON + minutes * MINUTE).toISOString()));
const SINCE = ['0000-01-01T00:00:00.000Z', new Date(NOON + MINUTE).toISOString()];
const WATERMARK = { job: 3, sync: 5, at: new Date(NOON + 2 * MINUTE).toISOString() };
const ASKED = [null, ONE, 'nobody'].flatMap(organizationId =>
  [[], [4, 5, 9, 14]].map(jobs => ({ watermark: WATERMARK, jobs, organizationId })),
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

export type Question = (reader: Reader) => readonly (() => unknown)[];

const forEachItem =
  <Item>(items: readonly Item[], ask: (reader: Reader, item: Item) => unknown): Question =>
  reader =>
    items.map(item => () => ask(reader, item));

const runOnce = (ask: (reader: Reader) => unknown): Question => forEachItem([null], ask);

const pairs = <One, Other>(takeSample: readonly One[], others: readonly Other[]) =>
  takeSample.flatMap(one => others.map(other => [one, other] as const));

/** Takes every twentieth of many similar items, unless the run has time for all of them. */
const some = <Item>(items: readonly Item[]) => items.filter((_, place) => place % chooseLength(20, 1) === 0);

const LOOKED_FOR = [...TEXTS, 'ZEBRA', 'ÄPFEL', 'APF', '_'];
const FILTER_TEXTS: Readonly<Record<Filter['kind'], readonly string[]>> = {
  id: ['R0', 'R', 'Zebra', 'Zebra 0', 'q-2', 'ä'],
  word: ['2021', '21', 'EX-POST', 'exTra', 'installed', 'pending', 'äpfel'],
  project: [...LOOKED_FOR, 'project-1', 'project-', 'R0'],
  substring: [...LOOKED_FOR, '%', '\\'],
  number: ['2', '99'],
  year: ['2024', '0000'],
  years: ['2021', '2020..2022', '2022..', '..2020', '2020..2019'],
  from: ['2026-05-04', '0001-01-01', '2026-Q2'],
  until: ['2026-05-04', '9999-12-31', '2026'],
  organization: [ONE, 'Organization-1', 'nobody'],
  installation: ['installation-1'],
  choice: [],
  flag: ['yes'],
};

/** The calls of every exported query function that are compared. */
export const QUESTIONS: Readonly<Record<string, Question>> = {
  readGroupTotals: forEachItem(pairs(GROUPINGS, [null, ...MOMENTS]), async (reader, [grouping, at]) => {
    const request = await parseListRequest(reader, RETIREMENTS, { getText: () => null, at, now: NOON });
    if ('fault' in request) return request;
    const { rows, totals, coverage, caveats, gaps } = await readGroupTotals(reader, request, [grouping]);
    return { rows: await collectRows(rows), totals, coverage, caveats, gaps };
  }),
  compareList: forEachItem(
    pairs(COMPARABLE_LISTS, pairs(MOMENTS, MOMENTS)),
    async (reader, [list, [from, to]]) => {
      if (from > to) return null;
      const request = { list, organizationId: null, from, to };
      const { rows, sql: _sql, ...answer } = await compareList(reader, request, ALL_COMPARED_ROWS);
      return { ...answer, list: list.name, rows: await collectRows(rows) };
    },
  ),
  readDeliveriesAfter: forEachItem([0, 3, 99], inbox.readDeliveriesAfter),
  readNewestDeliveryId: runOnce(inbox.readNewestDeliveryId),
  readLastRestatement: forEachItem(pairs(['R0', 'R1', 'nothing'], [null, ...MOMENTS]), (reader, [id, at]) =>
    readLastRestatement(reader, ONE, id, at),
  ),
  readNumberedChanges: forEachItem([[], [1, 2, 3], [99_999]], changes.readNumberedChanges),
  readNumberBefore: forEachItem([null, ...SINCE], changes.readNumberBefore),
  findCertificateFiles: forEachItem(
    pairs(['R2-long-long', 'nothing'], [null, ...MOMENTS]),
    (reader, [retirementId, at]) =>
      certificates.findCertificateFiles(reader, { retirementId, organizationId: null, at }),
  ),
  readRetirementOfFile: runOnce(async reader => {
    const found = [await certificates.readRetirementOfFile(reader, 'no.pdf')];
    for (const { file } of await certificates.readStoredFiles(reader))
      found.push(await certificates.readRetirementOfFile(reader, file));
    return found;
  }),
  readStaleAndFreshLists: runOnce(readStaleAndFreshLists),
  readFailedJobs: forEachItem(SINCE, readFailedJobs),
  readAppId: runOnce(orders.readAppId),
  hasActiveInstallation: forEachItem([ONE, 'nobody'], orders.hasActiveInstallation),
  readOrderByKey: forEachItem(['key-0', 'nothing'], orders.readOrderByKey),
  readReservation: forEachItem(['h-0', 'nothing'], (reader, id) => orders.readReservation(reader, ONE, id)),
  readWarehouseCredit: forEachItem(['A b 0', 'nothing'], (reader, id) =>
    orders.readWarehouseCredit(reader, ONE, id),
  ),
  readLatestAnswers: runOnce(readLatestAnswers),
  readCoverageAt: forEachItem(
    some(pairs(pairs(RESOURCES, MOMENTS), [null, ONE, 'organization_1', 'Organization-1', 'nobody'])),
    (reader, [[resource, at], organizationId]) =>
      asOf.readCoverageAt(reader, { resource, organizationId, at }),
  ),
  readOrganizationCoverageAt: forEachItem(AT_MOMENTS, asOf.readOrganizationCoverageAt),
  readWarehousesAt: forEachItem(pairs(MOMENTS, [null, 'project-1']), async (reader, [at, projectId]) => {
    const { rows, ...answer } = await readWarehousesAt(reader, { at, organizationIds: null, projectId });
    return { ...answer, rows: await collectRows(rows) };
  }),
  readUnlistedProjects: forEachItem([null, ...MOMENTS], names.readUnlistedProjects),
  readInactiveAt: forEachItem(pairs(MOMENTS, [null, ONE, 'nobody']), (reader, [at, organizationId]) =>
    readInactiveAt(reader, at, organizationId),
  ),
  readRowNotesAt: forEachItem(AT_MOMENTS, (reader, { organizationId, ...request }) =>
    asOf.readRowNotesAt(reader, [organizationId], request),
  ),
  countRowsAt: forEachItem(pairs(ENTRIES, MOMENTS), (reader, [entry, at]) =>
    asOf.countRowsAt(reader, entry, { organizationId: ONE, at }),
  ),
  readAvailability: forEachItem(
    [{}, { organizationId: ONE }, { projectId: 'project-1' }, { projectId: 'nothing' }],
    readAvailability,
  ),
  readAvailable: forEachItem(
    [
      ...WHOSE.map(organizationId => ({ organizationId, where: [] })),
      ...HELD.map(condition => ({ organizationId: null, where: [condition] })),
    ],
    readAvailable,
  ),
  wasEverHeld: forEachItem(HELD, wasEverHeld),
  findOrganization: forEachItem(NAMES, findOrganization),
  findInstallation: forEachItem(NAMES, findInstallation),
  findProject: forEachItem(NAMES, findProject),
  readWarehouseCounts: forEachItem([1, Infinity], readWarehouseCounts),
  sumWarehouses: forEachItem(
    pairs(
      [[ONE], selectOwnersByFreshness('fresh'), selectOwnersByFreshness('not fresh', ONE)],
      [BY_OWNER, BY_PROJECT],
    ),
    (reader, [owners, by]) => sumWarehouses(reader, owners, by),
  ),
  readChanges: forEachItem(pairs([null, ONE], [null, ...SINCE]), (reader, [organizationId, since]) =>
    changes.readChanges(reader, { organizationId, resource: null, since, until: MOMENTS.at(-1) ?? null }),
  ),
  readSums: forEachItem([1, Infinity], (reader, most) => readSums(reader, most, most)),
  readOverview: forEachItem(pairs([NOW, 0], [1, Infinity]), (reader, [now, most]) =>
    readOverview(reader, now, snapshot => readSums(snapshot, most, most)),
  ),
  readNewest: forEachItem(
    [
      { organizationId: null, since: null, until: null },
      { organizationId: ONE, since: SINCE[1] ?? null, until: MOMENTS[4] ?? null },
    ],
    (reader, asked) => checkGroupsFromNewest(reader, { ...asked, resource: null }),
  ),
  readBetween: forEachItem(['installation', 'retirements'], (reader, resource) =>
    changes.readBetween(reader, { organizationId: null, resource, since: null, until: null }, 0, 20_000),
  ),
  readLastNumber: runOnce(async reader => (await changes.readLastNumber(reader)) > 0),
  readBalance: forEachItem([null, ONE], async (reader, organizationId) => {
    const answer = await readBalance(reader, organizationId);
    return { ...answer, rows: await collectBalance(answer) };
  }),
  readStates: forEachItem(
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
  readStatesOfRows: forEachItem(['warehouse', 'organization', null], async (reader, resource) => {
    const states = await readStatesOfRows(reader, resource, [{ organization_id: ONE, id: ONE }]);
    return { fresh: states?.fresh, state: states?.standingOf({ organization_id: ONE, id: ONE })?.state };
  }),
  readStoredFiles: runOnce(certificates.readStoredFiles),
  isFileReferenced: runOnce(async reader => {
    const named = [await certificates.isFileReferenced(reader, 'no.pdf')];
    for (const { file } of await certificates.readStoredFiles(reader))
      named.push(await certificates.isFileReferenced(reader, file));
    return named;
  }),
  readExport: forEachItem(pairs(WHOSE, [null, ...MOMENTS]), (reader, [organizationId, at]) =>
    certificates.readExport(reader, {
      where: organizationId === null ? [] : [{ column: 'organization_id', is: organizationId }],
      at,
    }),
  ),
  readCoverage: forEachItem(
    pairs(WHOSE, [undefined, null, ['warehouse']]),
    (reader, [organizationId, resources]) => certificates.readCoverage(reader, organizationId, resources),
  ),
  streamVersions: forEachItem(ENTRIES, async (reader, { table }) => {
    const versions = await collectRows(registry.streamVersions(reader, table));
    return versions.toSorted((a, b) => Number(a['version']) - Number(b['version']));
  }),
  readDocuments: forEachItem(pairs(ENTRIES, [ONE, 'installation-1', 'project-1']), (reader, [entry, id]) =>
    entry.hasDocument ? sorted(registry.readDocuments(reader, entry, id)) : null,
  ),
  readForgotten: runOnce(people.readForgotten),
  readComparableLists: runOnce(registry.readComparableLists),
  readNotCompared: runOnce(registry.readNotCompared),
  readFindingCounts: runOnce(findings.readFindingCounts),
  countFindings: runOnce(findings.countFindings),
  readActivity: forEachItem([0, NOON, NOW], readActivity),
  readOrigin: runOnce(names.readOrigin),
  readProjectNameFromRows: forEachItem(
    pairs(['project-1', 'nobody'], [null, ...MOMENTS]),
    (reader, [id, at]) => names.readProjectNameFromRows(reader, id, at),
  ),
  findReferencedProjects: forEachItem(['project-', 'project-1', 'ä', 'nobody'], find.findReferencedProjects),
  findMostDuplicated: forEachItem(SINCE, inbox.findMostDuplicated),
  readSignedText: forEachItem([1, 2, 3, 4], async (reader, id) =>
    inbox.readSignedText(
      reader,
      (await readNumbered(reader, DELIVERIES, id)) ?? { stored_text_id: 0, signed_text_sha256: '' },
    ),
  ),
  readSignedTexts: runOnce(inbox.readSignedTexts),
  readRowsById: forEachItem(
    some(pairs(pairs(ENTRIES, NAMES), [null, ONE])),
    (reader, [[entry, name], organizationId]) => find.readRowsById(reader, entry, name, { organizationId }),
  ),
  findIdsByStart: forEachItem(
    pairs(ENTRIES, ['', 'organization-', 'Zebra', 'ä', '😀', ONE]),
    (reader, [entry, text]) => find.findIdsByStart(reader, entry, text),
  ),
  addEndColumn: runOnce(async reader => {
    const rows = await readAll(reader, JOBS, [], null);
    const inPart = { state: 'done', outcome: 'read in part: retirements failed (503)' };
    return await addEndColumn(reader, [...rows, ...rows.map(row => ({ ...row, ...inPart }))]);
  }),
  addJobs: runOnce(reader =>
    addJobs(reader, [{ job_id: 1 }, { job_id: 3 }, { job_id: 99 }, { job_id: null }]),
  ),
  readVersionsById: forEachItem(pairs(ENTRIES, NAMES), (reader, [entry, name]) =>
    find.readVersionsById(reader, entry, name),
  ),
  readMemberChangeNumbers: runOnce(async reader => {
    const isTheirs = ({ document }: { document: string }) => document.includes('apfel@example.com');
    return (await people.readMemberChangeNumbers(reader, isTheirs)).length;
  }),
  countMentions: runOnce(reader =>
    people.countMentions(reader, document => document.includes('apfel@example.com')),
  ),
  countInstalled: runOnce(countInstalled),
  countSummedOrganizations: forEachItem(['installed', 'uninstalled'] as const, countSummedOrganizations),
  countStoredRecords: runOnce(reader => inbox.countStoredRecords(reader)),
  readMirrored: runOnce(readMirrored),
  sumFreshness: forEachItem(pairs(RESOURCES, WHOSE), (reader, [resource, organizationId]) =>
    sumFreshness(reader, resource, organizationId),
  ),
  findNumbered: forEachItem([0, 1, 2, 3, 999_999], findNumbered),
  readNameOf: forEachItem(pairs([ONE, 'nobody'], [null, ...MOMENTS]), (reader, [id, at]) =>
    names.readNameOf(reader, id, at),
  ),
  readOrganizationNames: runOnce(names.readOrganizationNames),
  readNames: forEachItem(['organizations', 'projects', 'installations'] as const, names.readNames),
  readPage: runRequests(ALL_LISTS.flatMap(listRequests), readEveryPage),
  streamRows: runRequests(some(ALL_LISTS.flatMap(listRequests)), (reader, request) =>
    collectRows(streamRows(reader, request, 7)),
  ),
  readTotals: runRequests(some(ALL_LISTS.flatMap(listRequests)), async (reader, request) => [
    await readTotals(reader, request, null),
    await readTotals(reader, request, 3),
  ]),
  readList: runRequests(some(ALL_LISTS.flatMap(listRequests)), async (reader, request) => {
    const { rows, sql: _, ...answer } = await readList(reader, request, { kind: 'first', limit: 7 });
    return [await collectRows(rows), answer];
  }),
  findUnmatchedFilters: runRequests(ALL_LISTS.flatMap(listRequests), findUnmatchedFilters),
  readAll: forEachItem([JOBS, SYNCS, DELIVERIES], (reader, list) =>
    readAll(reader, list, [{ column: 'id', above: 2 }], null),
  ),
  readNumbered: forEachItem(pairs([JOBS, DELIVERIES], [1, 2, 3, 4, 5, 99]), (reader, [list, id]) =>
    readNumbered(reader, list, id),
  ),
  hasRows: forEachItem(pairs([JOBS, SYNCS], [ONE, 'nobody']), (reader, [list, id]) =>
    hasRows(reader, { list, at: null, where: [{ column: 'organization_id', is: id }] }),
  ),
  search: forEachItem(['R0', 'a', 'ÄPFEL', 'o', '%', 'answer', '\\', ONE], search),
  groupVersions: forEachItem([LISTS.retirements, LISTS.warehouse], async (reader, entry) =>
    groupVersions(entry, await find.readVersionsById(reader, entry, 'R0')),
  ),
  answerResourcesAt: forEachItem(pairs([ONE, 'nobody'], MOMENTS), async (reader, [organizationId, at]) => {
    const answer = await answerResourcesAt(reader, organizationId, at);
    return { ...answer, rows: await collectRows(answer.rows) };
  }),
  explainRow: forEachItem(
    some(pairs(ENTRIES, pairs(NAMES, MOMENTS))),
    async (reader, [entry, [name, at]]) => {
      const versions = await find.readVersionsById(reader, entry, name);
      const ground = { reader, at, inspect: async () => null, contradicted: findContradictedColumns };
      return await explainRow(ground, entry, versions);
    },
  ),
  readSyncsOfJob: forEachItem([1, 2, 3], (reader, jobId) => inbox.readSyncsOfJob(reader, ONE, jobId)),
  readStateFingerprint: forEachItem([0, NOW], async (reader, now) =>
    (await readStateFingerprint(reader, now)).replaceAll(/\d+/g, 'a number'),
  ),
  sumRejected: forEachItem(SINCE, causes.sumRejected),
  readRejections: forEachItem([0, NOW, NOON], causes.readRejections),
  readProcesses: forEachItem(['work', 'receive'] as const, readProcesses),
  readInstallations: runOnce(registry.readInstallations),
  readProjects: runOnce(registry.readProjects),
  readNewestInstallation: runOnce(reader => registry.readNewestInstallation(reader, ONE)),
  readLowestCreditId: runOnce(reader => registry.readLowestCreditId(reader, ONE)),
  readStatus: forEachItem([NOW, 0], status.readStatus),
  readOrganizations: forEachItem([1, 2, 3], status.readOrganizations),
  readOrganization: forEachItem([ONE, 'nobody'], status.readOrganization),
  sumCertificates: runOnce(status.sumCertificates),
  readKnownOrganizations: forEachItem([null, ONE], readKnownOrganizations),
  readCharts: forEachItem([NOON, NOW], readCharts),
  readListNotes: forEachItem(['warehouse', 'retirements'], readListNotes),
  readListCoverage: forEachItem(
    pairs([null, ONE, 'nobody'], [null, 'warehouse', 'members']),
    (reader, [organizationId, resource]) => readListCoverage(reader, { organizationId, resource }),
  ),
  readChoices: forEachItem(
    pairs(['organizations', 'projects', 'installations'] as const, [null, ...MOMENTS]),
    (reader, [table, at]) => names.readChoices(reader, table, at),
  ),
  readColumnValues: forEachItem(
    pairs(
      MIRRORED.filter(({ filters }) => 'vintage' in filters),
      [null, ...MOMENTS],
    ),
    async (reader, [list, at]) => [
      (await readColumnValues(reader, list, ['vintage'], { at })).get('vintage'),
      (await readColumnValues(reader, list, ['vintage'], { at, organizationId: ONE })).get('vintage'),
    ],
  ),
  readCertificateCounts: runOnce(status.readCertificateCounts),
  readListStateCounts: runOnce(readListStateCounts),
  readInstallationTargets: forEachItem(WHOSE, registry.readInstallationTargets),
  readWatermark: forEachItem([NOW], progress.readWatermark),
  readFollowed: forEachItem(ASKED, (reader, asked) => progress.readFollowed(reader, asked, NOW)),
  isAnyJobRunning: forEachItem([NOON, NOW], progress.isAnyJobRunning),
  readSynced: forEachItem(ASKED, (reader, asked) => progress.readSynced(reader, asked, RESOURCES)),
};

interface Request {
  readonly list: List;
  readonly texts: Readonly<Record<string, string>>;
  readonly at: string | null;
}

/** Runs each request against a list as a person would make it. A request with a fault is compared by its fault. */
function runRequests(
  requests: readonly Request[],
  answer: (reader: Reader, request: ListRequest) => unknown,
): Question {
  return forEachItem(requests, async (reader, { list, texts, at }) => {
    const found = await parseListRequest(reader, list, {
      getText: name => texts[name] ?? null,
      at,
      now: NOW,
    });
    return 'fault' in found ? found : await answer(reader, found);
  });
}

/** Lists one request for each filter of a list, each also as of several instants. */
function listRequests(list: List): Request[] {
  const filters = Object.entries(list.filters).flatMap(([name, filter]) =>
    (filter.kind === 'choice' ? filter.choices : FILTER_TEXTS[filter.kind]).map(text => ({ [name]: text })),
  );
  const moments = list.past === null ? [null] : [null, ...MOMENTS];
  return moments.flatMap(at =>
    [{}, ...(at === null ? filters : filters.slice(0, 6))].map(texts => ({ list, texts, at })),
  );
}

/** Reads changes backwards in groups, and checks that they equal the changes read at once. */
async function checkGroupsFromNewest(reader: Reader, asked: changes.ChangeRangeRequest): Promise<unknown> {
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

/** Reads all pages of a list, each from the end of the previous one. Leaves out the SQL, which differs by engine. */
async function readEveryPage(
  reader: Reader,
  asking: ListSelection,
  after: readonly Value[] | null = null,
): Promise<unknown[]> {
  const { sql: _, next, ...page } = await readPage(reader, { ...asking, after, limit: 15 });
  return [page, ...(next === null ? [] : await readEveryPage(reader, asking, next))];
}

async function sorted(rows: AsyncIterable<unknown>): Promise<string[]> {
  return (await collectRows(rows)).map(row => JSON.stringify(row)).toSorted();
}

async function collectRows<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

const isStream = (answer: unknown): answer is AsyncIterable<unknown> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;

/** The engines number rows with different gaps, so each number is replaced by its position among all. */
const NUMBERS = ['version', 'closed_version', 'retirement_version', 'number'];

export async function readPlaces({ column }: Tables): Promise<Map<unknown, number>> {
  const asked = Object.entries(TABLES).flatMap(([table, columns]) =>
    NUMBERS.filter(name => !table.startsWith('inbox.') && name in columns).map(
      name => `SELECT ${name} FROM ${table}`,
    ),
  );
  const numbers = await column<number | null>(`${asked.join(' UNION ')} ORDER BY 1`);
  return new Map(numbers.filter(number => number !== null).map((number, place) => [number, place]));
}

export interface EngineUnderTest {
  readonly reader: Reader;
  readonly places: ReadonlyMap<unknown, number>;
}

/** Formats an answer for comparison byte by byte. Ages are replaced, because the engines answer at different instants. */
function formatAnswer(answer: unknown, places: EngineUnderTest['places']): string {
  const worded = (name: string, value: unknown) => {
    if (NUMBERS.includes(name) && value !== null) return places.get(value);
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof Set) return [...value];
    return typeof value === 'number' && /age_?seconds|seconds_left/i.test(name) ? 'an age' : value;
  };
  return JSON.stringify(answer, worded, 1);
}

/** Answers calls of a question: all of them, or as many as `limit`, evenly chosen. */
export async function answerQuestion(
  { reader, places }: EngineUnderTest,
  question: Question,
  limit: number,
): Promise<string> {
  const answers: unknown[] = [];
  const calls = question(reader);
  const step = Math.ceil(calls.length / limit) || 1;
  for (const ask of calls.filter((_, index) => index % step === 0)) {
    const answer = ask();
    answers.push(await (isStream(answer) ? collectRows(answer) : answer));
  }
  return formatAnswer(answers, places);
}

export async function openLibrary(
  { library }: TestEngine,
  isFilled: boolean,
): Promise<EngineUnderTest & { readonly folder: string }> {
  const { stage, tables, reader, writeFreshnessFacts } = await library();
  if (isFilled) {
    await fillWithOddRows(stage);
    await fillInboxWithOddRows(tables);
    await tables.change(
      'UPDATE syncs SET newest_delivery_id = (SELECT min(id) FROM inbox.deliveries), job_id = 3',
    );
    await writeFreshnessFacts(NOW);
  }
  return { reader, places: await readPlaces(stage.db), folder: stage.folder };
}
