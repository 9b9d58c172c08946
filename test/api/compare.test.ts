import { expect, test } from 'vitest';
import { openApi } from '../support/api.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { amount, credit } from '../support/mirror/rows.js';

const OWNER = { organizationId: 'organization-2' };

/** Opens the API on a mirror in which a credit was added, one was changed and one was removed between two instants. */
async function openScene(grant: Parameters<typeof openApi>[1] = {}) {
  const mirror = await openFilledMirror();
  const from = new Date(mirror.clock.at).toISOString();
  mirror.clock.at += 1_000;
  const items = [credit('c-2-0', { ...OWNER, amount: amount('1.5') }), credit('c-new', OWNER)];
  await mirror.read('warehouse', items, { ...OWNER, findGone: async ids => ids });
  const to = new Date(mirror.clock.at).toISOString();
  return { api: await openApi(mirror, grant), query: `list=warehouse&from=${from}&to=${to}`, from, to };
}

async function readBody(response: Response): Promise<Record<string, unknown>> {
  return JSON.parse(await response.text());
}

test('a comparison has the rows that differ in pages, with the totals and coverage of both instants', async () => {
  const { api, query, from, to } = await openScene();
  const first = await readBody(await api.get(`/v1/compare?${query}&limit=2`));
  expect(first).toMatchObject({
    rows: [
      { change: 'added', credit_id: 'c-new' },
      { change: 'changed', old_values: expect.any(String) },
    ],
    differences: { added: 1, changed: 1, removed: 1 },
    amounts: [
      { type: 'exPost', before: '300', added: '100', changed: '-98.5', removed: '-100', after: '201.5' },
    ],
    coverage: { counted: 2, known: 2, missing: 0 },
    from: { as_of: from, totals: { rows: 3 }, coverage: { counted: 2 } },
    to: { as_of: to, totals: { rows: 3 } },
    caveats: [],
  });
  const next = String(first['next']);
  const second = await readBody(await api.get(`/v1/compare?${query}&limit=2&after=${next}`));
  expect(second).toMatchObject({ rows: [{ change: 'removed', credit_id: 'c-2-1' }], next: null });
  const other = await api.get(`/v1/compare?${query}&organization_id=organization-2&after=${next}`);
  expect(other.status).toBe(400);
});

test('a comparison without a later date is with the present', async () => {
  const { api, from } = await openScene();
  const { to } = await readBody(await api.get(`/v1/compare?list=warehouse&from=${from}`));
  expect(to).toMatchObject({ as_of: new Date(api.clock.at).toISOString(), totals: { rows: 3 } });
});

test.each([
  ['list=warehouse', 'from: expected the earlier date'],
  ['list=warehouse&from=now&to=2020', 'to: expected '],
  ['list=warehouse&from=soon', 'from: Expected a date like'],
  ['list=projects&from=2020', 'list: '],
  ['from=2020&list=warehouse&as_of=now', 'as_of'],
])('the comparison %s is refused with the name of the parameter', async (query, detail) => {
  const { api } = await openScene();
  const response = await api.get(`/v1/compare?${query}`);
  expect(response.status).toBe(400);
  expect((await readBody(response))['detail']).toContain(detail);
});
