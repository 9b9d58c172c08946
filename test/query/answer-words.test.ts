import { expect, test } from 'vitest';
import { describeBalanceReason } from '../../src/query/history/balance-reason.js';
import { type Caveat, describeCaveat, formatCaveatCell, isUnknown } from '../../src/query/answer/caveat.js';
import {
  describeExcludedRows,
  describeHeld,
  describeTotals,
} from '../../src/query/answer/describe-totals.js';
import { describeNotes, describeUnknown } from '../../src/query/answer/describe-notes.js';
import { describeExplanationReason, type ExplainedSync } from '../../src/query/history/explanation-reason.js';
import { describeGap, type GapReason, isWholeList, toGapData } from '../../src/query/answer/gap.js';
import { formatNotesCell, serializeAnswers, withNotesCell } from '../../src/query/answer/serialize.js';
import { collectRows, streamOf, findAmountCaveats, totalsOfSums } from '../../src/query/answer/answer.js';

const AT = '2026-05-04T12:00:00.000Z';
const LATER = '2026-05-04T13:00:00.000Z';
const GAP = { organizationId: 'organization-1', organizationName: null, resource: 'inventory_requests' };

const CAVEATS: readonly (readonly [Caveat, string, string])[] = [
  [
    { code: 'nothing_read', organizations: 2 },
    'This list was never read completely for 2 organizations, so its rows are unknown.',
    'nothing_read organizations=2',
  ],
  [
    { code: 'nothing_known_then', organizations: 0, knownFrom: null },
    'This list has never been read for any organization.',
    'nothing_known_then organizations=0 knownFrom=null',
  ],
  [
    { code: 'nothing_known_then', organizations: 1, knownFrom: null },
    'Nothing is known about this list at that time.',
    'nothing_known_then organizations=1 knownFrom=null',
  ],
  [
    { code: 'nothing_known_then', organizations: 1, knownFrom: AT },
    `Nothing is known about this list at that time. The first instant that can be asked is ${AT}.`,
    `nothing_known_then organizations=1 knownFrom=${AT}`,
  ],
  [
    { code: 'never_read', organizations: 1 },
    'Missing here: 1 organization whose list was never read completely.',
    'never_read organizations=1',
  ],
  [
    { code: 'last_seen', organizations: 3 },
    'The rows of 3 organizations are as last seen, because their lists are not fresh.',
    'last_seen organizations=3',
  ],
  [
    { code: 'uninstalled_included', organizations: 1 },
    'Includes 1 organization that removed the app.',
    'uninstalled_included organizations=1',
  ],
  [
    { code: 'left_out', organizations: 1 },
    'The warehouse of 1 organization is left out, because it is not fresh.',
    'left_out organizations=1',
  ],
  [
    { code: 'left_out', organizations: 2 },
    'The warehouses of 2 organizations are left out, because they are not fresh.',
    'left_out organizations=2',
  ],
  [
    { code: 'without_amount', rows: 1 },
    '1 row without a usable amount is in no total.',
    'without_amount rows=1',
  ],
  [
    { code: 'without_amount', rows: 2 },
    '2 rows without a usable amount are in no total.',
    'without_amount rows=2',
  ],
  [{ code: 'limited', rows: 1_000 }, 'Showing 1,000. There are more.', 'limited rows=1000'],
  [
    { code: 'no_match', filter: 'id', match: 'equals', value: 'r-9', singular: 'retirement', similar: [] },
    'There is no retirement "r-9".',
    'no_match filter=id match=equals value=r-9 singular=retirement similar=',
  ],
  [
    {
      code: 'no_match',
      filter: 'beneficiary',
      match: 'contains',
      value: 'Ferrys',
      singular: 'retirement',
      similar: ['Ferries', 'Fairies'],
    },
    'No retirement has "Ferrys" in its beneficiary. Did you mean "Ferries", "Fairies"?',
    'no_match filter=beneficiary match=contains value=Ferrys singular=retirement similar=Ferries,Fairies',
  ],
  [
    { code: 'no_match', filter: 'vintage', match: 'equals', value: '1066', singular: 'credit', similar: [] },
    'No credit has the vintage "1066".',
    'no_match filter=vintage match=equals value=1066 singular=credit similar=',
  ],
  [
    { code: 'changes_unread_after', lastReadAt: AT, organization: 'Acme', lists: 1 },
    `The answer shows what was read until ${AT}; later changes may be missing.`,
    `changes_unread_after lastReadAt=${AT} organization=Acme lists=1`,
  ],
  [
    { code: 'changes_unread_after', lastReadAt: AT, organization: 'Acme', lists: 2 },
    `The answer shows what was read until ${AT} (the oldest of 2 reads: Acme); later changes may be missing.`,
    `changes_unread_after lastReadAt=${AT} organization=Acme lists=2`,
  ],
  [
    { code: 'unchanged_between', from: AT, to: LATER, reads: 1, organization: 'Acme', lists: 1 },
    `Read once between ${AT} and ${LATER}, always unchanged.`,
    `unchanged_between from=${AT} to=${LATER} reads=1 organization=Acme lists=1`,
  ],
  [
    { code: 'unchanged_between', from: AT, to: LATER, reads: 24, organization: 'Acme', lists: 3 },
    `Read 24 times between ${AT} and ${LATER}, always unchanged (the oldest of 3 reads: Acme).`,
    `unchanged_between from=${AT} to=${LATER} reads=24 organization=Acme lists=3`,
  ],
  [{ code: 'reads_not_recorded' }, 'Reads from before then are no longer on record.', 'reads_not_recorded'],
];

test.each(CAVEATS)('a caveat has words for people and a cell for files: %o', (caveat, sentence, cell) => {
  expect(describeCaveat(caveat)).toBe(sentence);
  expect(formatCaveatCell([caveat])).toBe(cell);
  expect(isUnknown(caveat)).toBe(['nothing_read', 'nothing_known_then'].includes(caveat.code));
});

test('only a caveat that nothing is known says so', () => {
  expect(describeUnknown({ caveats: [{ code: 'never_read', organizations: 1 }] })).toBeNull();
  expect(
    describeUnknown({
      caveats: [
        { code: 'limited', rows: 1 },
        { code: 'nothing_read', organizations: 1 },
      ],
    }),
  ).toBe('This list was never read completely for 1 organization, so its rows are unknown.');
});

test('notes say which organizations are missing, and nothing if none is', () => {
  const none = { coverage: null, freshness: [], gaps: [], caveats: [] };
  const stale = { state: 'stale', reason: 'overdue', failing_since: null, resources: 2, rows: 5 } as const;
  const notes = {
    coverage: { counted: 1_000, known: 1_001, missing: 1 },
    freshness: [{ ...stale, oldest_at: AT, as_of: LATER }],
    gaps: [{ ...GAP, reason: { code: 'never_read' } as const }],
    caveats: [{ code: 'limited', rows: 2 } as const],
  };
  expect(describeNotes(notes)).toEqual([
    'organization-1, inventory requests: never read completely.',
    `stale (overdue) in 2 organizations, last complete read ${LATER}.`,
    'Covers 1,000 of the 1,001 known organizations.',
    'Showing 2. There are more.',
  ]);
  expect(describeNotes({ ...none, coverage: { counted: 1, known: 1, missing: 0 } })).toEqual([]);
  expect(describeNotes(none)).toEqual([]);
});

test('totals name the rows, the amounts by type and the part that is available', () => {
  const totals = { rows: 1, hasMore: false, amounts: null, rowsWithoutAmount: 0 };
  const amounts = [{ type: null, amountMicro: 12_500_000n }];
  expect(describeTotals(totals, 'delivery')).toBe('1 delivery');
  expect(describeTotals({ ...totals, rows: 10_000, hasMore: true }, 'credit')).toBe(
    'More than 10,000 credits',
  );
  expect(describeTotals({ ...totals, amounts }, 'retirement', { subject: 'of Acme' })).toBe(
    '1 retirement of Acme: 12.5 t',
  );
  expect(describeTotals({ ...totals, rows: 0, amounts: [] }, 'credit')).toBe('0 credits');
  const available = [
    { type: 'exPost', amountMicro: 2_000_000n },
    { type: 'exAnte', amountMicro: 1n },
  ];
  expect(describeTotals({ ...totals, rows: 2, amounts }, 'credit', { available })).toBe(
    '2 credits: 12.5 t, of which 2 t ex-post and 0.000001 t ex-ante are available now',
  );
  expect(describeTotals({ ...totals, rows: 3, amounts }, 'reservation', { subject: 'in any state' })).toBe(
    '3 reservations in any state: 12.5 t',
  );
  expect(describeHeld({ ...totals, amounts: available.slice(0, 1) })).toBe('Held now: 1 with 2 t ex-post');
  expect(describeHeld({ ...totals, rows: 0, amounts: [] })).toBe('Held now: nothing');
});

test('sums are added up by credit type, with the rows that are in no sum', () => {
  const sums = [
    { type: 'exPost', amount_micro: 1n, rows: 2, rows_without_amount: 1 },
    { type: 'exAnte', amount_micro: 5n, rows: 1, rows_without_amount: 0 },
    { type: 'exPost', amount_micro: 3n, rows: 4, rows_without_amount: 2 },
  ];
  const totals = totalsOfSums(sums);
  expect(totals).toEqual({
    rows: 7,
    hasMore: false,
    amounts: [
      { type: 'exPost', amountMicro: 4n },
      { type: 'exAnte', amountMicro: 5n },
    ],
    rowsWithoutAmount: 3,
  });
  expect(findAmountCaveats(totals)).toEqual([{ code: 'without_amount', rows: 3 }]);
  expect(findAmountCaveats({ ...totals, amounts: null })).toEqual([]);
  expect(findAmountCaveats({ ...totals, rowsWithoutAmount: 0 })).toEqual([]);
  expect(describeExcludedRows(sums)).toBe('. 3 rows without a usable amount are in no total.');
  expect(describeExcludedRows(sums.slice(1, 2))).toBe('');
});

test('a gap names its organization and list, is flat in JSON, and is counted in the cell of files', async () => {
  const neverRead = { ...GAP, reason: { code: 'never_read' } as const };
  const running = {
    ...GAP,
    organizationName: 'Acme',
    reason: { code: 'read_running', startedAt: AT, endedAt: LATER } as const,
  };
  expect(describeGap(neverRead)).toBe('organization-1, inventory requests: never read completely.');
  expect(describeGap(running)).toMatch(/^Acme, inventory requests: a read that started /);
  expect(toGapData(running)).toEqual({
    organizationId: 'organization-1',
    organizationName: 'Acme',
    resource: 'inventory_requests',
    code: 'read_running',
    startedAt: AT,
    endedAt: LATER,
  });
  const notes = { caveats: [{ code: 'limited', rows: 1 }] as const, gaps: [neverRead, running, neverRead] };
  const cell = 'limited rows=1; gap_never_read lists=2; gap_read_running lists=1';
  expect(formatNotesCell(notes)).toBe(cell);
  expect(formatNotesCell({ caveats: [], gaps: [] })).toBe('');
  expect(await collectRows(withNotesCell(streamOf([{ id: 1 }]), notes))).toEqual([{ id: 1, caveats: cell }]);
});

test('a gap hides the whole list if none of its rows was known', () => {
  const reasons: readonly GapReason[] = [
    { code: 'never_read' },
    { code: 'before_first_read', firstReadEndedAt: AT, earlierRetirements: 0 },
    { code: 'no_longer_readable', lastReadAt: AT },
    { code: 'read_running', startedAt: AT, endedAt: null },
    { code: 'read_incomplete', startedAt: AT, state: 'failed', error: null },
    { code: 'later_changes_unread', lastReadAt: AT },
  ];
  expect(reasons.map(isWholeList)).toEqual([true, true, true, false, false, false]);
});

test('several answers are one JSON object with a header', async () => {
  const answer = {
    at: AT,
    rows: streamOf([{ id: 'r-1' }]),
    totals: null,
    coverage: null,
    freshness: [],
    gaps: [{ ...GAP, reason: { code: 'no_longer_readable', lastReadAt: AT } as const }],
    caveats: [{ code: 'changes_unread_after', lastReadAt: AT, organization: 'Acme', lists: 1 } as const],
  };
  const texts = serializeAnswers({ at: AT }, [{ name: 'retirements', answer }], JSON.stringify);
  expect(JSON.parse((await collectRows(texts)).join(''))).toEqual({
    at: AT,
    retirements: {
      rows: [{ id: 'r-1' }],
      as_of: AT,
      totals: null,
      coverage: null,
      freshness: [],
      gaps: [
        {
          organization_id: 'organization-1',
          organization_name: null,
          resource: 'inventory_requests',
          code: 'no_longer_readable',
          last_read_at: AT,
        },
      ],
      caveats: [{ code: 'changes_unread_after', last_read_at: AT, organization: 'Acme', lists: 1 }],
    },
  });
});

test('a row that does not balance has its reason as a code with amounts, and as words', () => {
  const counted = { listed_rows: 1_200, listed_micro: 12_500_000, counted_rows: 1, counted_micro: null };
  expect(describeBalanceReason({ code: 'counted_differently', ...counted })).toBe(
    '1,200 listed with 12.5 t, 1 counted with a sum that is too large',
  );
  const moved = { opening_micro: 5_000_000n, risen_micro: 1, fallen_micro: 0, listed_micro: 5_000_000 };
  expect(describeBalanceReason({ code: 'moved_differently', ...moved })).toBe(
    '5 t at first, plus 0.000001 t, minus 0 t, but 5 t listed',
  );
});

const SYNC: ExplainedSync = {
  id: 7,
  trigger: 'schedule',
  state: 'complete',
  started_at: AT,
  last_answer_at: null,
  finished_at: null,
  job_id: null,
  newest_delivery_id: null,
  delivery: null,
};

test('each reason of an explanation is one or two sentences', () => {
  const finished = { ...SYNC, last_answer_at: AT, finished_at: LATER, job_id: 3, newest_delivery_id: 9 };
  const delivery = { event: 'retirement', received_at: AT };
  const words = [
    { code: 'not_observed_yet', at: AT },
    { code: 'no_longer_listed', at: AT },
    { code: 'observed', sync: SYNC },
    { code: 'observed', sync: finished },
    { code: 'observed', sync: { ...finished, delivery } },
    { code: 'ended', sync: { ...SYNC, newest_delivery_id: 9, delivery: { ...delivery, event: null } } },
    { code: 'sync_not_recorded', syncId: 8 },
    { code: 'sync_not_recorded', syncId: null },
    { code: 'edited_by_hand', columns: ['amount', 'vintage'] },
    { code: 'confirmed', readStartedAt: AT, syncId: 8 },
    { code: 'confirmed', readStartedAt: AT, syncId: null },
    { code: 'unchanged', from: AT, to: LATER, reads: 2 },
    { code: 'first_observed', at: AT, syncId: 5, wasMissingBefore: false, registryDate: null },
    { code: 'first_observed', at: LATER, syncId: null, wasMissingBefore: true, registryDate: AT },
    { code: 'valid_until', at: AT },
    { code: 'end_not_recorded', syncId: 9 },
  ] as const;
  expect(words.map(describeExplanationReason)).toEqual([
    `The mirror had not observed it by ${AT}.`,
    `It was no longer listed at ${AT}.`,
    `Observed by sync 7: started ${AT}, and has not ended. Triggered by schedule.`,
    `Observed by sync 7: started ${AT}, answered ${AT}, ended ${LATER} (complete). Triggered by delivery 9 (removed since), job 3.`,
    `Observed by sync 7: started ${AT}, answered ${AT}, ended ${LATER} (complete). Triggered by delivery 9 (retirement, received ${AT}), job 3.`,
    `Ended by sync 7: started ${AT}, and has not ended. Triggered by delivery 9 (unknown event, received ${AT}).`,
    'Observed by sync 8, which is no longer on record.',
    'The row names no sync that observed it.',
    'The row was edited by hand: its stored JSON contradicts amount, vintage. "carbon-mirror sync --full" restores what the registry still shows.',
    `Confirmed unchanged by sync 8, the full read that started ${AT}.`,
    `Confirmed unchanged by the full read that started ${AT}. A read without changes is counted and has no sync number.`,
    `Read 2 times between ${AT} and ${LATER}, always unchanged.`,
    `First observed ${AT} by sync 5. Earlier history is unknown: the list had not been read completely before.`,
    `First observed ${LATER}. The complete reads before then did not list it. Dated by the registry: ${AT}.`,
    `Valid until ${AT}.`,
    'Ended by sync 9, which is no longer on record.',
  ]);
});
