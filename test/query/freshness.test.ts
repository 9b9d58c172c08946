import { expect, test } from 'vitest';
import { readLatestAnswers } from '../../src/query/freshness/latest-answers.js';
import {
  freshnessOf,
  readListStateCounts,
  readStates,
  sumFreshness,
  withFreshness,
} from '../../src/query/freshness/read-freshness.js';
import {
  colourOf,
  compareStandings,
  describeFreshnessSum,
  FRESH,
  FRESHNESS,
  rankOf,
  sentenceOf,
  STANDINGS,
  WAITING,
  wordsOf,
} from '../../src/query/freshness/describe-freshness.js';
import { breakReads, openFilledMirror } from '../support/mirror/open.js';

test('organizations with the same state of a resource are counted in one sum', async () => {
  const mirror = await openFilledMirror({ organizations: 3 });
  await breakReads(mirror, 'organization-3');
  expect(await sumFreshness(mirror.reader, 'warehouse', null)).toMatchObject([
    { state: 'fresh', reason: null, failing_since: null, resources: 2, rows: 3 },
    {
      state: 'stale',
      reason: 'read_failed',
      failing_since: '2026-11-01T00:00:00.000Z',
      resources: 1,
      rows: 3,
    },
  ]);
  expect(await sumFreshness(mirror.reader, 'warehouse', 'organization-1')).toMatchObject([
    { resources: 1, rows: 1 },
  ]);
  expect(await sumFreshness(mirror.reader, 'members', null)).toMatchObject([
    { state: 'never_read', reason: 'read_failed', resources: 1, as_of: null },
    { state: 'never_read', reason: 'waiting', resources: 2, as_of: null },
  ]);
});

test('every state and reason is counted, also those with no organization', async () => {
  const mirror = await openFilledMirror({ organizations: 2 });
  await breakReads(mirror, 'organization-2');
  const ages = await readListStateCounts(mirror.reader);
  expect(ages.map(({ state, reason }) => [state, reason])).toEqual(
    FRESHNESS.map(({ state, reason }) => [state, reason]),
  );
  const of = (wanted: string | null) => ages.filter(({ reason }) => reason === wanted);
  expect(of('read_failed').find(({ state }) => state === 'stale')).toMatchObject({
    resources: 3,
    failing: 3,
  });
  expect(of('overdue')).toMatchObject([{ resources: 0, failing: 0, age_seconds: null }]);
});

test('a row of a list is as fresh as the list of its organization', async () => {
  const mirror = await openFilledMirror({ organizations: 2 });
  const fresh = await readStates(mirror.reader, 'warehouse', null);
  expect([fresh?.areAllFresh, fresh?.fresh.toSorted()]).toEqual([true, ['organization-1', 'organization-2']]);
  await breakReads(mirror, 'organization-2');
  const states = await readStates(mirror.reader, 'warehouse', null);
  if (states === null) throw new Error('expected states');
  expect([states.areAllFresh, states.fresh]).toEqual([false, ['organization-1']]);
  expect(freshnessOf({ organization_id: 'organization-2' }, states)).toEqual({
    freshness: 'stale',
    failing_since: '2026-11-01T00:00:00.000Z',
  });
  const rows = async function* () {
    yield { organization_id: 'organization-1' };
    yield { organization_id: 'nobody' };
  };
  const beside: unknown[] = [];
  for await (const row of withFreshness(rows(), states)) beside.push(row['freshness']);
  expect(beside).toEqual(['fresh', null]);
});

test('rows that belong to no mirrored list have no freshness', async () => {
  const { reader } = await openFilledMirror();
  expect(await readStates(reader, 'certificates', null)).toBe(null);
  expect(await readStates(reader, null, null)).toBe(null);
});

test('organizations whose lists got the same answer share one line, which names one of them', async () => {
  const { reader, db } = await openFilledMirror({ organizations: 2 });
  await db.change(
    "UPDATE resource_states SET last_answer_at = '2026-05-04T12:00:00.000Z', answer_status = 200, answer_form = 'list' WHERE resource = 'warehouse'",
  );
  expect(await readLatestAnswers(reader)).toEqual([
    {
      resource: 'warehouse',
      status: 200,
      form: 'list',
      organizations: 2,
      last_answer_at: '2026-05-04T12:00:00.000Z',
      example: 'Organization 1',
      not_offered: 0,
    },
  ]);
});

test('states are ranked from best to worst, and a fresh list whose reads fail ranks below a fresh one', () => {
  const failing = { ...FRESH, failing_since: '2026-05-04T12:00:00.000Z' };
  const worst = { state: 'stale', reason: 'read_failed', failing_since: null };
  expect([FRESH, worst, failing, WAITING].toSorted(compareStandings)).toEqual([
    worst,
    WAITING,
    failing,
    FRESH,
  ]);
  expect(new Set(STANDINGS.map(rankOf)).size).toBe(STANDINGS.length);
  expect([colourOf(FRESH), colourOf(failing), colourOf(worst), colourOf(WAITING)]).toEqual([
    'good',
    'doubt',
    'bad',
    'none',
  ]);
  expect([wordsOf(FRESH), wordsOf(failing), wordsOf(worst)]).toEqual([
    'fresh',
    'fresh, but the last read failed',
    'stale (read failed)',
  ]);
});

test('every state has its colour and its words, from best to worst', () => {
  expect(FRESHNESS.map(each => `${colourOf(each)}: ${wordsOf(each)}`)).toEqual([
    'none: no access (uninstalled)',
    'good: fresh',
    'none: no access (suspended)',
    'none: never read (waiting)',
    'doubt: stale (being read)',
    'doubt: stale (overdue)',
    'doubt: stale (clock changed)',
    'doubt: stale (unread webhook)',
    'bad: stale (worker gone)',
    'none: never read (read interrupted)',
    'doubt: stale (read interrupted)',
    'none: not offered',
    'none: no access (no permission)',
    'doubt: stale (removals unconfirmed)',
    'bad: never read (read failed)',
    'bad: stale (read failed)',
  ]);
});

test('a state that this version does not know has no colour, and is described by its own words', () => {
  const unknown = { state: 'brand_new', reason: 'some_reason', failing_since: null };
  expect([colourOf(unknown), wordsOf(unknown)]).toEqual(['none', 'brand new (some reason)']);
});

test('a sum of lists that are not fresh is a sentence, and others need none', () => {
  const sum = { ...FRESH, state: 'stale', reason: 'overdue', resources: 2, as_of: 'T1' };
  expect(describeFreshnessSum(sum)).toBe('stale (overdue) in 2 organizations, last complete read T1.');
  expect(describeFreshnessSum({ ...sum, as_of: null })).toBeNull();
  expect(describeFreshnessSum({ ...FRESH, resources: 2, as_of: 'T1' })).toBeNull();
});

test('a sentence states why a list is stale and what failed', () => {
  const told = { failing_since: null, error: null, oldest_unread_at: 'T1', worker_seen_at: 'T2' };
  const stale = (reason: string, error: string | null = null) =>
    sentenceOf({ ...told, state: 'stale', reason, error });
  expect(stale('unread_webhook')).toBe('the delivery received T1 has not been read yet');
  expect(stale('worker_gone', 'answered 503')).toBe('no worker has been seen since T2 (answered 503)');
  expect(stale('read_failed', 'answered 503')).toBe('answered 503');
  expect(stale('removals_unconfirmed', 'two are missing')).toBe('two are missing');
  expect(sentenceOf({ ...told, ...FRESH })).toBe(null);
});
