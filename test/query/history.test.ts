import { expect, test } from 'vitest';
import { describeCaveat } from '../../src/query/answer/caveat.js';
import { readStoredFiles } from '../../src/query/certificates.js';
import { describeGap, type Gap, type GapReason } from '../../src/query/answer/gap.js';
import {
  type CoverageAt,
  countRowsAt,
  findUnknownReason,
  readCoverageAt,
  readOrganizationCoverageAt,
  selectKnownIds,
  toNotesAt,
} from '../../src/query/history/as-of.js';
import {
  ALL_CHANGES,
  newestInSql,
  readChanges,
  readLastNumber,
  readNewest,
} from '../../src/query/history/changes.js';
import {
  explainRow,
  groupVersions,
  type InspectedFile,
  selectRowColumns,
} from '../../src/query/history/explanation.js';
import { countFindings, FINDINGS, readFindingCounts } from '../../src/query/history/findings.js';
import { readVersionsById } from '../../src/query/lists/find-by-id.js';
import { LISTS } from '../../src/resources/lists.js';
import { writeCertificate } from '../support/certificates.js';
import { beginRead, MINUTE, openFilledMirror, TRAFFIC } from '../support/mirror/open.js';
import { amount, createUnknownPage, credit, retirement, retirements } from '../support/mirror/rows.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

const ALL_GONE = { findGone: async (ids: readonly string[]) => ids };
const instant = (at: number) => new Date(at).toISOString();

async function changesIn({ reader }: Filled, asked: Partial<typeof ALL_CHANGES>) {
  const found: string[] = [];
  for await (const row of readChanges(reader, { ...ALL_CHANGES, ...asked }))
    found.push(`${row.change} ${row.resource} ${row.row_id}`);
  return found;
}

test('changes are read in the order of their numbers, by resource, organization and time', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const { read, clock } = filled;
  clock.at += 1_000;
  const then = instant(clock.at);
  await read('warehouse', [credit('c-1-0', { amount: amount('60') }), credit('c-9')]);
  clock.at += 1_000;
  await read('warehouse', [credit('c-9')], ALL_GONE);
  const mine = { organizationId: 'organization-1', resource: 'warehouse' };
  expect(await changesIn(filled, mine)).toEqual([
    'added warehouse c-1-0',
    'changed warehouse c-1-0',
    'added warehouse c-9',
    'removed warehouse c-1-0',
  ]);
  expect(await changesIn(filled, { ...mine, since: then })).toEqual([
    'changed warehouse c-1-0',
    'added warehouse c-9',
    'removed warehouse c-1-0',
  ]);
  expect(await changesIn(filled, { ...mine, until: then })).toHaveLength(3);
  expect(await changesIn(filled, { resource: 'retirements' })).toHaveLength(3);
});

test('the newest changes come first, and older ones follow from a given number', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  const numbers = async (before: number | null, limit: number) =>
    (await readNewest(reader, ALL_CHANGES, before, limit)).map(({ number }) => number);
  const last = await readLastNumber(reader);
  expect(await numbers(null, 2)).toEqual([last, last - 1]);
  expect(await numbers(last, 2)).toEqual([last - 1, last - 2]);
  expect(newestInSql(reader, ALL_CHANGES, last, 2)).toMatch(/number < \d+ order by number desc limit 2$/);
});

const coverage = (values: Partial<CoverageAt>): CoverageAt => ({
  organizationId: 'organization-1',
  organizationName: null,
  lastReadAt: null,
  unchangedReads: null,
  gaps: [],
  ...values,
});
const gap = (values: Pick<Gap, 'reason'> & Partial<Gap>): Gap => ({
  organizationId: 'organization-1',
  organizationName: null,
  resource: 'warehouse',
  ...values,
});

test('a list is known from the end of its first complete read', async () => {
  const { reader, clock, read } = await openFilledMirror({ organizations: 2 });
  const first = instant(clock.at);
  clock.at += 60_000;
  const second = instant(clock.at);
  await read('warehouse', [credit('c-1-0')]);
  const now = { organizationId: null, resource: 'warehouse', at: second };
  const lists = await readCoverageAt(reader, now);
  expect(selectKnownIds(lists)).toEqual(['organization-1', 'organization-2']);
  expect(lists).toEqual([
    coverage({ organizationName: 'Organization 1', lastReadAt: second }),
    coverage({ organizationId: 'organization-2', organizationName: 'Organization 2', lastReadAt: first }),
  ]);
  const own = async (organizationId: string, at: string) =>
    await readOrganizationCoverageAt(reader, { ...now, organizationId, at });
  const before = await own('organization-1', '2020-01-01T00:00:00.000Z');
  expect(before.gaps).toEqual([
    {
      organizationId: 'organization-1',
      organizationName: 'Organization 1',
      resource: 'warehouse',
      reason: { code: 'before_first_read', firstReadEndedAt: first, earlierRetirements: 0 },
    },
  ]);
  expect(await readCoverageAt(reader, { ...now, organizationId: 'nobody' })).toMatchObject([
    { organizationId: 'nobody', gaps: [{ reason: { code: 'never_read' } }] },
  ]);
  expect((await own('organization-1', first)).gaps).toEqual([]);
  expect(await own('nobody', second)).toEqual(
    coverage({
      organizationId: 'nobody',
      gaps: [gap({ organizationId: 'nobody', reason: { code: 'never_read' } })],
    }),
  );
});

test('scheduled reads that found a list unchanged confirm it from the first to the last of them', async () => {
  // At noon, because reads of two days are never counted together.
  const filled = await openFilledMirror({ organizations: 1, at: Date.parse('2026-05-04T12:00:00.000Z') });
  const { reader, clock, read } = filled;
  const start = clock.at;
  const after = (minutes: number) => instant(start + minutes * MINUTE);
  const readAt = async (minutes: number, ...items: ReturnType<typeof retirement>[]) => {
    clock.at = start + minutes * MINUTE;
    await read('retirements', items, { trigger: 'schedule' });
  };
  const knownAt = async (minutes: number) => {
    const request = { organizationId: 'organization-1', resource: 'retirements', at: after(minutes) };
    const { lastReadAt, unchangedReads } = await readOrganizationCoverageAt(reader, request);
    return { lastReadAt, unchangedReads };
  };
  for (const minutes of [10, 20, 30]) await readAt(minutes, retirement('r-1-0'));
  const first = { from: after(10), to: after(30), reads: 3 };
  expect(await knownAt(0)).toEqual({ lastReadAt: after(0), unchangedReads: null });
  expect(await knownAt(9)).toEqual({ lastReadAt: after(0), unchangedReads: null });
  expect(await knownAt(10)).toEqual({ lastReadAt: after(10), unchangedReads: first });
  expect(await knownAt(29)).toEqual({ lastReadAt: after(10), unchangedReads: first });
  expect(await knownAt(30)).toEqual({ lastReadAt: after(30), unchangedReads: null });
  await readAt(40, retirement('r-1-0'), retirement('r-2'));
  for (const minutes of [50, 60]) await readAt(minutes, retirement('r-1-0'), retirement('r-2'));
  expect(await knownAt(29)).toEqual({ lastReadAt: after(10), unchangedReads: first });
  expect(await knownAt(35)).toEqual({ lastReadAt: after(30), unchangedReads: null });
  expect(await knownAt(45)).toEqual({ lastReadAt: after(40), unchangedReads: null });
  expect(await knownAt(55)).toEqual({
    lastReadAt: after(50),
    unchangedReads: { from: after(50), to: after(60), reads: 2 },
  });
});

test('a read that ran at the instant is a gap, unless it changed nothing', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const { reader, mirror, clock } = filled;
  const start = clock.at;
  const after = (minutes: number) => instant(start + minutes * MINUTE);
  const readFor = async (minutes: number, ...items: ReturnType<typeof retirement>[]) => {
    const request = { organizationId: 'organization-1', claim: 2, startedAt: clock.at } as const;
    const read = await mirror.beginRead({ ...request, resource: 'retirements', trigger: 'schedule' });
    await read.writePage(createUnknownPage(items, clock.at));
    clock.at += minutes * MINUTE;
    return await read.finish({ ...TRAFFIC, total: items.length, lookUpMissing: async () => new Map() });
  };
  const gapsAt = async (minutes: number) =>
    (
      await readCoverageAt(reader, { organizationId: null, resource: 'retirements', at: after(minutes) })
    ).flatMap(({ gaps }) => gaps.map(each => [each.organizationId, each.reason] as const));
  clock.at = start + 10 * MINUTE;
  await readFor(10, retirement('r-1-0'), retirement('r-2'));
  await readFor(10, retirement('r-1-0'), retirement('r-2'));
  const running = { code: 'read_running', startedAt: after(10), endedAt: after(20) };
  expect(await gapsAt(9)).toEqual([]);
  expect(await gapsAt(10)).toEqual([['organization-1', running]]);
  expect(await gapsAt(19)).toEqual([['organization-1', running]]);
  expect(await gapsAt(20)).toEqual([]);
  expect(await gapsAt(25)).toEqual([]);
  const open = await beginRead(filled, 'retirements', { claim: 3, trigger: 'schedule' });
  await open.writePage(createUnknownPage(retirements(900, 'new'), clock.at));
  expect(await gapsAt(31)).toEqual([
    ['organization-1', { code: 'read_running', startedAt: after(30), endedAt: null }],
  ]);
});

test('a list that can no longer be read is known until its last complete read', async () => {
  const { reader, clock, read, db } = await openFilledMirror({ organizations: 1 });
  const first = clock.at;
  clock.at += MINUTE;
  await read('retirements', [retirement('r-1-0'), retirement('r-2')]);
  await db.change("UPDATE resource_states SET no_permission_at = as_of WHERE resource = 'retirements'");
  const reasonAt = async (at: number) => {
    const request = { organizationId: 'organization-1', resource: 'retirements', at: instant(at) };
    return findUnknownReason(await readOrganizationCoverageAt(reader, request));
  };
  expect(await reasonAt(first)).toBeNull();
  expect(await reasonAt(clock.at)).toBeNull();
  const lastReadAt = instant(clock.at);
  expect(await reasonAt(clock.at + 1)).toEqual({ code: 'no_longer_readable', lastReadAt });
  expect(await reasonAt(first - 1)).toMatchObject({ code: 'before_first_read' });
});

test('retirements that the registry dates before the first read are counted in the gap', async () => {
  const { reader, clock } = await openFilledMirror({ organizations: 1 });
  const request = { organizationId: 'organization-1', resource: 'retirements' };
  const dated = '2026-03-01T10:00:00.000Z';
  const reasonAt = async (at: string) =>
    findUnknownReason(await readOrganizationCoverageAt(reader, { ...request, at }));
  const firstReadEndedAt = instant(clock.at);
  const code = 'before_first_read';
  expect(await reasonAt(dated)).toEqual({ code, firstReadEndedAt, earlierRetirements: 1 });
  expect(await reasonAt('2026-03-01T09:59:59.999Z')).toEqual({
    code,
    firstReadEndedAt,
    earlierRetirements: 0,
  });
});

test('the oldest read of all known lists is a caveat, and lists that were not known are ignored', () => {
  const at = '2026-05-04T14:00:00.000Z';
  const recent = coverage({ organizationId: 'new', lastReadAt: at });
  const old = coverage({ organizationId: 'old', lastReadAt: '2026-05-03T14:00:00.000Z' });
  const unknown = { ...old, gaps: [gap({ reason: { code: 'never_read' } })] };
  const toCaveats = (lists: readonly CoverageAt[]) => toNotesAt(at, lists).caveats;
  expect(toCaveats([recent, old])).toEqual([
    { code: 'changes_unread_after', lastReadAt: old.lastReadAt, organization: 'old', lists: 2 },
  ]);
  expect(toCaveats([recent, { ...old, organizationName: 'Old One' }])).toMatchObject([
    { organization: 'Old One' },
  ]);
  expect(toCaveats([recent, unknown])).toEqual([
    { code: 'changes_unread_after', lastReadAt: at, organization: 'new', lists: 1 },
  ]);
  expect(toCaveats([recent, { ...old, lastReadAt: null }])).toEqual([{ code: 'reads_not_recorded' }]);
  const unchangedReads = { from: String(old.lastReadAt), to: at, reads: 24 };
  expect(toCaveats([{ ...old, unchangedReads }])).toEqual([
    { code: 'unchanged_between', ...unchangedReads, organization: 'old', lists: 1 },
  ]);
  expect(toCaveats([unknown])).toEqual([{ code: 'nothing_known_then', organizations: 1, knownFrom: null }]);
  const lateReads = ['2026-05-06T14:00:00.000Z', '2026-05-05T14:00:00.000Z'].map(firstReadEndedAt =>
    coverage({
      gaps: [gap({ reason: { code: 'before_first_read', firstReadEndedAt, earlierRetirements: 0 } })],
    }),
  );
  expect(toCaveats([unknown, ...lateReads])).toMatchObject([{ knownFrom: '2026-05-05T14:00:00.000Z' }]);
});

test('gaps and the oldest read are described in one sentence each', () => {
  const at = '2026-05-04T14:00:00.000Z';
  const describe = (reason: GapReason) => describeGap(gap({ reason }));
  expect([
    describe({ code: 'never_read' }),
    describe({ code: 'before_first_read', firstReadEndedAt: at, earlierRetirements: 0 }),
    describe({ code: 'before_first_read', firstReadEndedAt: at, earlierRetirements: 2 }),
    describe({ code: 'no_longer_readable', lastReadAt: at }),
    describe({ code: 'read_running', startedAt: at, endedAt: null }),
    describe({ code: 'read_incomplete', startedAt: at, state: 'failed', error: 'no answer' }),
    describe({ code: 'read_incomplete', startedAt: at, state: 'partial', error: null }),
    describe({ code: 'later_changes_unread', lastReadAt: at }),
    describeGap({ ...gap({ reason: { code: 'never_read' } }), organizationName: 'Acme' }),
  ]).toEqual([
    'organization-1, warehouse: never read completely.',
    `organization-1, warehouse: not known before ${at}, the end of the first complete read.`,
    `organization-1, warehouse: not known before ${at}, the end of the first complete read; 2 of the retirements listed today have an earlier date.`,
    `organization-1, warehouse: not known after ${at}, because it can no longer be read.`,
    `organization-1, warehouse: a read that started ${at} was still running; rows it had not reached are left out.`,
    `organization-1, warehouse: the read that started ${at} was failed (no answer), so it may have missed changes.`,
    `organization-1, warehouse: the read that started ${at} was partial, so it may have missed changes.`,
    `organization-1, warehouse: changes at the registry after ${at} had not been read yet.`,
    'Acme, warehouse: never read completely.',
  ]);
  const organization = 'Acme';
  expect([
    describeCaveat({ code: 'changes_unread_after', lastReadAt: at, organization, lists: 1 }),
    describeCaveat({ code: 'changes_unread_after', lastReadAt: at, organization, lists: 2 }),
    describeCaveat({ code: 'unchanged_between', from: at, to: at, reads: 1, organization, lists: 1 }),
    describeCaveat({ code: 'unchanged_between', from: at, to: at, reads: 24, organization, lists: 2 }),
    describeCaveat({ code: 'reads_not_recorded' }),
  ]).toEqual([
    `The answer shows what was read until ${at}; later changes may be missing.`,
    `The answer shows what was read until ${at} (the oldest of 2 reads: Acme); later changes may be missing.`,
    `Read once between ${at} and ${at}, always unchanged.`,
    `Read 24 times between ${at} and ${at}, always unchanged (the oldest of 2 reads: Acme).`,
    'Reads from before then are no longer on record.',
  ]);
});

test('rows are counted as of an instant', async () => {
  const { reader, clock, read } = await openFilledMirror({ organizations: 1 });
  const before = instant(clock.at);
  clock.at += 1_000;
  await read('retirements', [retirement('r-1-0'), retirement('r-2')]);
  const at = async (then: string) =>
    await countRowsAt(reader, LISTS.retirements, { organizationId: 'organization-1', at: then });
  expect([await at(before), await at(instant(clock.at)), await at('2020-01-01T00:00:00.000Z')]).toEqual([
    1, 2, 0,
  ]);
});

const explain = async (
  { reader }: Filled,
  id: string,
  at: string,
  overrides: Partial<Parameters<typeof explainRow>[0]> = {},
) => {
  const [versions = []] = groupVersions(
    LISTS.retirements,
    await readVersionsById(reader, LISTS.retirements, id),
  );
  const ground = { reader, inspect: async () => null, contradicted: () => [], at, ...overrides };
  return await explainRow(ground, LISTS.retirements, versions);
};

test('an explanation names the sync that showed a row and the sync that closed it', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { clock, read, db } = filled;
  const shown = instant(clock.at);
  clock.at += 1_000;
  const changed = instant(clock.at);
  await read('retirements', [retirement('r-1-0', { comment: 'again' })]);
  const syncs = await db.column<number>("SELECT id FROM syncs WHERE resource = 'retirements' ORDER BY id");
  const first = await explain(filled, 'r-1-0', shown);
  expect(first).toMatchObject({
    row: { id: 'r-1-0', comment: null },
    document: retirement('r-1-0').document,
    until: changed,
    shown_by: { id: syncs[0] },
    ended_by: { id: syncs[1] },
    first_seen_at: shown,
    dated_at: '2026-03-01T10:00:00.000Z',
    contradicted: [],
  });
  const second = await explain(filled, 'r-1-0', changed);
  expect(second).toMatchObject({
    row: { comment: 'again' },
    until: null,
    ended_by: null,
    last_seen_at: changed,
  });
  expect(second.reasons.map(({ code }) => code)).toEqual(['observed', 'confirmed', 'first_observed']);
  expect(first.reasons).toEqual([
    { code: 'observed', sync: first.shown_by },
    { code: 'confirmed', readStartedAt: shown, syncId: syncs[0] },
    {
      code: 'first_observed',
      at: shown,
      syncId: syncs[0],
      wasMissingBefore: false,
      registryDate: '2026-03-01T10:00:00.000Z',
    },
    { code: 'valid_until', at: changed },
    { code: 'ended', sync: first.ended_by },
  ]);
  expect(second.notes.gaps).toMatchObject([
    { reason: { code: 'later_changes_unread', lastReadAt: changed } },
  ]);
});

test('a row that differs from its document was edited by hand, and no read confirms it', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const edited = await explain(filled, 'r-1-0', instant(filled.clock.at), {
    contradicted: () => ['beneficiary'],
  });
  expect(edited).toMatchObject({ contradicted: ['beneficiary'], last_seen_at: null, unchanged_reads: null });
  expect(edited.reasons.slice(1)).toEqual([
    { code: 'edited_by_hand', columns: ['beneficiary'] },
    {
      code: 'first_observed',
      at: instant(filled.clock.at),
      syncId: expect.any(Number),
      wasMissingBefore: false,
      registryDate: '2026-03-01T10:00:00.000Z',
    },
  ]);
});

test('an explanation says whether complete reads before the first observation had not listed the row', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  filled.clock.at += 1_000;
  await filled.read('retirements', [retirement('r-1-0'), retirement('r-new')]);
  const later = await explain(filled, 'r-new', instant(filled.clock.at));
  expect(later.reasons.at(-1)).toMatchObject({ code: 'first_observed', wasMissingBefore: true });
});

/** The version before the instant is the latest of those that had begun, not the first. */
test('a removed row is explained by its last version', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { clock, read } = filled;
  clock.at += 1_000;
  await read('retirements', [retirement('r-1-0', { comment: 'again' })]);
  clock.at += 1_000;
  const gone = instant(clock.at);
  await read('retirements', [retirement('r-2')], ALL_GONE);
  clock.at += 1_000;
  const told = await explain(filled, 'r-1-0', instant(clock.at));
  expect(told).toMatchObject({ row: null, document: null, until: gone, certificate: null });
  expect(told.reasons[0]).toEqual({ code: 'no_longer_listed', at: instant(clock.at) });
  const before = await explain(filled, 'r-1-0', '2020-01-01T00:00:00.000Z');
  expect(before.reasons[0]).toEqual({ code: 'not_observed_yet', at: '2020-01-01T00:00:00.000Z' });
});

test('a row is described without the columns that are fields of their own', () => {
  const version = { version: 1, document: '{}', valid_to: null, sync_id: 1, closed_by: 2, closed_version: 3 };
  expect(selectRowColumns({ ...version, id: 'r-1', valid_from: 'then' })).toEqual({
    id: 'r-1',
    valid_from: 'then',
  });
});

test('a certificate is explained by the file that was stored, and by whether it is still the same', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { clock, reader } = filled;
  const before = instant(clock.at);
  clock.at += 1_000;
  await writeCertificate(filled, 'r-1-0');
  const [{ file, sha256 } = { file: '', sha256: '' }] = await readStoredFiles(reader);
  const inspect = async (found: InspectedFile | null, at: string) =>
    (await explain(filled, 'r-1-0', at, { inspect: async () => found })).certificate;
  const now = instant(clock.at);
  expect(await inspect({ sha256 }, now)).toEqual({ file, sha256, state: 'as it was stored' });
  expect(await inspect({ sha256: 'another' }, now)).toEqual({ file, sha256, state: 'changed' });
  expect(await inspect(null, now)).toEqual({ file, sha256, state: 'missing' });
  expect(await inspect({ sha256 }, before)).toBeNull();
});

test('a read that failed, and the delivery that requested a sync, are part of an explanation', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { clock, mirror, tables } = filled;
  clock.at += 1_000;
  const startedAt = clock.at;
  const request = { organizationId: 'organization-1', resource: 'retirements', claim: 2, startedAt } as const;
  const begun = await mirror.beginRead({ ...request, trigger: 'schedule' });
  await begun.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC);
  const received = '2026-05-04T12:00:00.000Z';
  await tables.change(
    `INSERT INTO inbox.deliveries (id, received_at, event, signed_text_sha256, stored_text_id, verdict, secret_index)
     VALUES (7, '${received}', 'installed', 'digest', 1, 'accepted', 0)`,
  );
  await tables.change(
    "UPDATE syncs SET newest_delivery_id = 7 WHERE resource = 'retirements' AND state = 'complete'",
  );
  const explanation = await explain(filled, 'r-1-0', instant(clock.at));
  expect(explanation.shown_by).toMatchObject({
    trigger: 'delivery',
    state: 'complete',
    newest_delivery_id: 7,
    delivery: { event: 'installed', received_at: received },
  });
  expect(explanation.notes.gaps.map(({ reason }) => reason)).toContainEqual({
    code: 'read_incomplete',
    startedAt: instant(startedAt),
    state: 'failed',
    error: 'no answer',
  });
});

test('findings are the last counts of a worker, or are counted on demand', async () => {
  const { reader, db } = await openFilledMirror({ organizations: 1 });
  expect(await readFindingCounts(reader)).toEqual({ countedAt: null, counts: [] });
  await db.change(
    "INSERT INTO finding_counts (finding, rows, counted_at) VALUES ('b', 2, '2026-05-04T12:00:00.000Z'), ('a', 1, '2026-05-04T12:30:00.000Z')",
  );
  expect(await readFindingCounts(reader)).toEqual({
    countedAt: '2026-05-04T12:00:00.000Z',
    counts: [
      { finding: 'a', rows: 1 },
      { finding: 'b', rows: 2 },
    ],
  });
  const counts = await countFindings(reader);
  expect(counts.map(({ finding }) => finding)).toEqual(Object.values(FINDINGS).flat().toSorted());
});
