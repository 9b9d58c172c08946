import { expect, test } from 'vitest';
import type { Condition } from '../../src/query/lists/condition.js';
import { ALL_LISTS, findList } from '../../src/query/lists/list-definitions.js';
import { getFilterText, parseListRequest } from '../../src/query/lists/parse-request.js';
import { readAll, readNumbered } from '../../src/query/lists/read-rows.js';
import { askList } from '../support/ask-list.js';
import { acceptedDelivery } from '../support/inbox.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { credit, organization } from '../support/mirror/rows.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

const NOW = Date.UTC(2026, 4, 4, 12);
const FIRST = '0000-01-01T00:00:00.000Z';
const LAST = '9999-12-31T23:59:59.999Z';

async function parse(
  { reader }: Filled,
  name: string,
  filters: Readonly<Record<string, string>>,
  at: string | null = null,
) {
  return await parseListRequest(reader, findList(name), {
    getText: key => filters[key] ?? null,
    at,
    now: NOW,
  });
}

/** The list, a filter, the text that a person writes, its usual spelling, and the condition that it means. */
const MEANINGS: readonly (readonly [string, string, string, string, Condition])[] = [
  ['deliveries', 'ignored', 'yes', 'yes', { column: 'verdict', is: 'ignored' }],
  [
    'deliveries',
    'event',
    'Warehouse Transaction',
    'warehouseTransaction',
    { column: 'event', word: 'warehouseTransaction' },
  ],
  ['syncs', 'drift', 'yes', 'yes', { column: 'drift', above: 0 }],
  ['syncs', 'id', '7', '7', { column: 'id', is: 7 }],
  [
    'syncs',
    'resource',
    'Inventory-Requests',
    'inventory_requests',
    { column: 'resource', is: 'inventory_requests' },
  ],
  ['syncs', 'trigger', 'PERSON', 'person', { column: 'trigger', is: 'person' }],
  ['jobs', 'state', 'Done', 'done', { column: 'state', is: 'done' }],
  ['deliveries', 'installation_id', 'i-9', 'i-9', { column: 'installation_id', is: 'i-9' }],
  ['jobs', 'organization_id', 'gone-9', 'gone-9', { column: 'organization_id', is: 'gone-9' }],
  [
    'jobs',
    'organization_id',
    'organization 1',
    'organization-1',
    { column: 'organization_id', is: 'organization-1' },
  ],
  [
    'deliveries',
    'installation_id',
    'Organization 2',
    'installation-2',
    { column: 'installation_id', is: 'installation-2' },
  ],
  ['inventory-requests', 'state', 'rejected', 'Rejected', { column: 'state', word: 'Rejected' }],
  ['warehouse', 'vintage', '1066', '1066', { column: 'vintage', is: '1066' }],
  ['warehouse', 'vintage', '2016-17', '2016-17', { column: 'vintage', is: '2016-17' }],
  [
    'retirements',
    'vintage',
    '2020..2027',
    '2020..2027',
    { column: 'vintage', from: '2020', to: '2027\u{10ffff}' },
  ],
  ['warehouse', 'vintage', '2020..', '2020..', { column: 'vintage', from: '2020', to: '9999\u{10ffff}' }],
  ['inventory', 'vintage', '..2020', '..2020', { column: 'vintage', from: '0000', to: '2020\u{10ffff}' }],
  ['restatements', 'year', '2024..', '2024..', { column: 'year', from: '2024', to: '9999\u{10ffff}' }],
  ['warehouse', 'type', 'ex_POST', 'exPost', { column: 'type', word: 'exPost' }],
  ['warehouse', 'type', 'ex-other', 'ex-other', { column: 'type', word: 'ex-other' }],
  ['organizations', 'type', 'anything', 'anything', { column: 'type', word: 'anything' }],
  ['warehouse', 'credit_id', 'c-2-0', 'c-2-0', { column: 'credit_id', is: 'c-2-0' }],
  ['warehouse', 'credit_id', 'c-2…', 'c-2', { column: 'credit_id', from: 'c-2', to: 'c-2\u{10ffff}' }],
  ['warehouse', 'project', 'peat', 'peat', { column: 'project_id', project: 'peat' }],
  ['retirements', 'beneficiary', 'ferries', 'ferries', { column: 'beneficiary', holds: 'ferries' }],
  [
    'retirements',
    'year',
    '2025',
    '2025',
    { column: 'created_at', from: '2025-01-01T00:00:00.000Z', to: '2025-12-31T23:59:59.999Z' },
  ],
  [
    'retirements',
    'from',
    '2025-02',
    '2025-02',
    { column: 'created_at', from: '2025-02-01T00:00:00.000Z', to: LAST },
  ],
  [
    'rejected-webhooks',
    'from',
    '7d',
    '7d',
    { column: 'newest_at', from: '2026-04-27T12:00:00.000Z', to: LAST },
  ],
  [
    'rejected-webhooks',
    'from',
    '2026-05-03T12:30',
    '2026-05-03T12:30',
    { column: 'newest_at', from: '2026-05-03T12:30:00.000Z', to: LAST },
  ],
  [
    'retirements',
    'until',
    '2025-Q1',
    '2025-Q1',
    { column: 'created_at', from: FIRST, to: '2025-03-31T23:59:59.999Z' },
  ],
  [
    'retirements',
    'until',
    '2025-02',
    '2025-02',
    { column: 'created_at', from: FIRST, to: '2025-02-28T23:59:59.999Z' },
  ],
];

/** Opens a mirror of two organizations, with a job of a third, a credit of an unknown type, and a vintage of two years. */
async function openMirrorOfWords() {
  const filled = await openFilledMirror({ organizations: 2 });
  const odd = credit('c-odd', { type: 'exOther', vintage: '2016-17' });
  await filled.read('warehouse', [credit('c-1-0'), odd]);
  const { receivedAt: _, ...delivery } = acceptedDelivery({ installationId: 'i-9' });
  await filled.inbox.store([{ ...delivery, receivedMsAgo: 0 }]);
  await filled.inbox.enqueue([
    {
      kind: 'installation',
      dedupeKey: 'a',
      trigger: 'person',
      installationId: 'i-9',
      organizationId: 'gone-9',
    },
  ]);
  return filled;
}

test('a filter is parsed into a condition, in the usual spelling of its value', async () => {
  const filled = await openMirrorOfWords();
  for (const [name, filter, text, spelling, condition] of MEANINGS) {
    const request = await parse(filled, name, { [filter]: text });
    if ('fault' in request) throw new Error(request.fault);
    const parsed = { where: request.where, at: request.at, text: getFilterText(request, filter) };
    expect(parsed, `${name} ${filter} ${text}`).toEqual({ where: [condition], at: null, text: spelling });
  }
});

const REFUSALS: readonly (readonly [string, string, string, string])[] = [
  ['deliveries', 'ignored', 'no', 'Expected "yes", got "no".'],
  ['syncs', 'id', '1x', 'Expected a number, got "1x".'],
  ['syncs', 'id', 'x1', 'Expected a number, got "x1".'],
  ['syncs', 'id', '1'.repeat(16), `Expected a number, got "${'1'.repeat(16)}".`],
  ['retirements', 'year', '25', 'Expected a year like 2025, got "25".'],
  ['retirements', 'year', '20255', 'Expected a year like 2025, got "20255".'],
  ['retirements', 'year', 'A2025', 'Expected a year like 2025, got "A2025".'],
  [
    'jobs',
    'state',
    'faild',
    'Expected one of waiting, running, paused, failed, done, got "faild". Did you mean failed?',
  ],
  [
    'warehouse',
    'type',
    'exPast',
    'Expected one of exPost, exAnte, exOther, got "exPast". Did you mean exPost?',
  ],
  ...['21', '2021-', '20-21', '2016 17', '..', '2021...2022', '2021-2022', ' 2021'].map(
    text =>
      [
        'warehouse',
        'vintage',
        text,
        `Expected a vintage like 2021, or a range like 2020..2027, 2020.. or ..2027, got "${text}".`,
      ] as const,
  ),
  ['retirements', 'vintage', '2027..2020', 'The range "2027..2020" ends before it begins. Write 2020..2027.'],
  [
    'restatements',
    'year',
    '2024-',
    'Expected a year like 2021, or a range like 2020..2027, 2020.. or ..2027, got "2024-".',
  ],
  ['inventory', 'type', 'ex', 'Expected one of exPost, exAnte, got "ex". Did you mean exPost, exAnte?'],
  ['retirements', 'id', 'x'.repeat(10_001), `Expected at most 10000 characters, got "${'x'.repeat(20)}…".`],
  ['jobs', 'organization_id', 'gone-8', 'There is no organization "gone-8" in the mirror.'],
  ['warehouse', 'organization_id', 'gone-9', 'There is no organization "gone-9" in the mirror.'],
  ['deliveries', 'installation_id', 'nobody', 'There is no installation "nobody" in the mirror.'],
];

test('a filter that cannot be applied is refused with the reason, and with similar values', async () => {
  const filled = await openMirrorOfWords();
  for (const [name, filter, text, fault] of REFUSALS)
    expect(await parse(filled, name, { [filter]: text }), `${name} ${filter}`).toMatchObject({ fault });
});

test('every filter that takes words refuses an unknown word, except where the list has no words yet', async () => {
  const filled = await openMirrorOfWords();
  const accepted: string[] = [];
  const withoutKnownWords: string[] = [];
  for (const { name, filters } of ALL_LISTS)
    for (const [key, filter] of Object.entries(filters)) {
      if (filter.kind === 'word' && filter.known.length === 0) withoutKnownWords.push(`${name} ${key}`);
      if (['choice', 'word', 'flag', 'number', 'year', 'years', 'from', 'until'].includes(filter.kind)) {
        const request = await parse(filled, name, { [key]: 'qqqq' });
        if (!('fault' in request)) accepted.push(`${name} ${key}`);
      }
    }
  expect(accepted).toEqual(withoutKnownWords);
  expect(accepted).toContain('organizations type');
});

test('a text of 10,000 characters is accepted, and a word that only past rows have is no misspelling', async () => {
  const filled = await openMirrorOfWords();
  expect(await parse(filled, 'retirements', { id: 'x'.repeat(10_000) })).not.toHaveProperty('fault');
  filled.clock.at += 1;
  await filled.read('warehouse', [credit('c-1-0')], { findGone: async ids => ids });
  expect(await parse(filled, 'warehouse', { type: 'exother' })).toMatchObject({
    where: [{ column: 'type', word: 'exother' }],
  });
});

test('filters that a list does not have, or that are empty, are ignored', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const request = await parse(filled, 'warehouse', { type: 'ex post', nothing: 'x', vintage: '' });
  if ('fault' in request) throw new Error(request.fault);
  expect([getFilterText(request, 'type'), getFilterText(request, 'vintage'), request.where.length]).toEqual([
    'exPost',
    null,
    1,
  ]);
});

test('a list as of an instant reads older versions, and refuses a filter whose column is only known for now', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const at = new Date(filled.clock.at).toISOString();
  const past = await parse(filled, 'reservations', { organization_id: 'organization-1', from: '2026' }, at);
  expect(past).toMatchObject({ at, list: { from: 'reservations_history' }, where: [{}, {}] });
  expect(await parse(filled, 'reservations', { state: 'outstanding' }, at)).toEqual({
    fault: 'state_now is only known for now. It cannot filter a list as of an instant.',
  });
  expect(await parse(filled, 'reservations', { state: 'outstanding' })).toMatchObject({
    at: null,
    list: { from: 'reservations_now' },
  });
  const jobs = await parse(filled, 'jobs', { state: 'done' }, at);
  expect(jobs).toMatchObject({ at: null, list: { from: 'inbox.jobs' } });
  const projects = await parse(filled, 'projects', { organization_id: 'organization-1' }, at);
  expect(projects).toMatchObject({ at, list: { from: 'projects_history' } });
});

test('a project is found by its id, the start of its id from eight characters on, or a part of its name', async () => {
  const filled = await openFilledMirror({ organizations: 0 });
  const inProject = (id: string, project: string, fullName: string | null) =>
    credit(id, { project: { id: project, fullName } });
  await filled.read('warehouse', [
    inProject('c-1', 'project-1', 'Peat_bog'),
    inProject('c-2', 'project-2', 'Cove'),
    inProject('c-3', 'project-20', null),
    inProject('c-4', 'other', 'project'),
  ]);
  await filled.tables.change(
    `INSERT INTO projects (version, id, full_name, valid_from, sync_id, document)
     VALUES (900, 'project-20', 'Kelp 100%', '2026-01-01T00:00:00.000Z', 1, '{}')`,
  );
  const list = findList('warehouse');
  const find = async (project: string) => {
    const request = await parse(filled, 'warehouse', { project });
    if ('fault' in request) throw new Error(request.fault);
    const rows = await readAll(filled.reader, list, request.where, null);
    return rows.map(row => String(row['credit_id'])).toSorted();
  };
  const table = {
    'project-2': ['c-2', 'c-3'],
    'project-2…': ['c-2', 'c-3'],
    'project-': ['c-1', 'c-2', 'c-3'],
    project: ['c-4'],
    other: ['c-4'],
    othe: [],
    EAT_B: ['c-1'],
    'eat b': [],
    kelp: ['c-3'],
    '0%': ['c-3'],
    '%': ['c-3'],
  };
  const found = Object.fromEntries(
    await Promise.all(Object.keys(table).map(async text => [text, await find(text)] as const)),
  );
  expect(found).toEqual(table);
});

test('a project as of an instant has the name that it had then', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const before = new Date(filled.clock.at).toISOString();
  const later = new Date(filled.clock.at + 1_000).toISOString();
  await filled.tables.change(
    `INSERT INTO projects (version, id, full_name, valid_from, sync_id, document)
     VALUES (900, 'project-1', 'Cedar grove', '${later}', 1, '{}')`,
  );
  const count = async (project: string, at: string | null) =>
    (await askList(filled, findList('retirements'), { filters: { project }, at })).rows.length;
  expect(await count('cedar', null)).toBe(1);
  expect(await count('cedar', later)).toBe(1);
  expect(await count('cedar', before)).toBe(0);
  expect(await count('project-1', before)).toBe(1);
});

test.each(['x1', '1x', '', '0'.repeat(16), '99'])('no row has the number "%s"', async id => {
  const { reader, inbox } = await openMirrorOfWords();
  const [number = 0] = await inbox.enqueue([{ kind: 'projects', dedupeKey: 'b', trigger: 'person' }]);
  expect(await readNumbered(reader, findList('jobs'), String(number))).toMatchObject({ id: number });
  expect(await readNumbered(reader, findList('jobs'), id)).toBeNull();
});

test('an order that a list does not have is refused, and a list without orders ignores it', async () => {
  const filled = await openMirrorOfWords();
  expect(await parse(filled, 'retirements', { sort: 'qqqq' })).toMatchObject({
    fault: expect.stringContaining('got "qqqq"'),
  });
  const unsorted = ALL_LISTS.filter(({ sorts }) => sorts.length === 0);
  for (const { name } of unsorted)
    expect(await parse(filled, name, { sort: 'qqqq' }), name).not.toHaveProperty('fault');
});

test('an organization is found as tables print it, shortened and with an ellipsis', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const id = '7f3a9c41-organization';
  await filled.read('organization', [organization(id)], { organizationId: id });
  expect(await parse(filled, 'warehouse', { organization_id: '7f3a9c41…' })).toMatchObject({
    where: [{ is: id }],
  });
});
