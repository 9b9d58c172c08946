import { describe, expect, test } from 'vitest';
import type { Reader } from '../../src/store/contract/reader.js';
import { readAvailable, readWarehouseCounts } from '../../src/query/available.js';
import { BY_OWNER, BY_PROJECT, sumWarehouses, selectOwnersByFreshness } from '../../src/query/sums.js';
import { formatSumsByType } from '../../src/text/tonnes.js';
import { compareStandings } from '../../src/query/freshness/describe-freshness.js';
import {
  type OrganizationStatus,
  readOrganization,
  readOrganizations,
  sumCertificates,
  worstOf,
} from '../../src/query/status.js';
import { ENGINES, type TestMirror, fillOrganizations } from '../support/mirror/open.js';
import { createRandom, pick } from '../support/random.js';

const ORGANIZATIONS = 9;
/** The states that an organization or all of its resources can have. */
const TURNS = [
  "UPDATE resource_states SET outcome = 'failed'",
  "UPDATE resource_states SET no_permission_at = '2026-05-04T12:00:00.000Z'",
  "UPDATE resource_states SET not_offered_at = '2026-05-04T12:00:00.000Z', as_of = NULL",
  'UPDATE resource_states SET as_of = NULL',
  "UPDATE resource_states SET as_of = '2026-05-04T12:00:00.000Z'",
  'UPDATE resource_states SET rows = 5 - rows',
];
const WHOLE = [
  "UPDATE installations SET state = 'suspended'",
  "UPDATE installations SET state = 'uninstalled'",
  'DELETE FROM resource_states',
];

async function fillRandomly(stage: TestMirror, seed: number): Promise<void> {
  const random = createRandom(seed);
  stage.clock.at = Date.now();
  await fillOrganizations(stage, ORGANIZATIONS);
  for (let turn = 0; turn < 4 * ORGANIZATIONS; turn++) {
    const whose = `organization-${Math.ceil(random() * ORGANIZATIONS)}`;
    const resource = pick(random, ['warehouse', 'inventory', 'retirements', 'members'], '');
    if (random() < 0.1) await stage.db.change(`${pick(random, WHOLE, '')} WHERE organization_id = ?`, whose);
    else
      await stage.db.change(
        `${pick(random, TURNS, '')} WHERE organization_id = ? AND resource = ?`,
        whose,
        resource,
      );
  }
  for (const [id, owner] of [
    ['awaited-1', null],
    ['awaited-2', null],
    ['awaited-3', 'organization-new'],
  ] as const)
    await stage.db.change(
      "INSERT INTO awaited_installations (id, organization_id, known_at) VALUES (?, ?, '2026-05-04T12:00:00.000Z')",
      id,
      owner,
    );
  for (const state of ['pending', 'stored'])
    await stage.db.change(
      'INSERT INTO certificate_sums (organization_id, state, certificates) SELECT organization_id, ?, 3 FROM installations',
      state,
    );
}

/** Removes ages, which differ between two queries. */
function withoutAges(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (name, value) => (name === 'age_seconds' ? null : value)));
}

/** Whether organizations are sorted by their standing, computed from their own resources and not by the query that sorts. */
function isSortedByStanding(all: readonly OrganizationStatus[]): boolean {
  const worst = all.map(worstOf);
  return worst.every((each, place) => compareStandings(worst[place - 1] ?? each, each) <= 0);
}

async function checkWarehouseStates(reader: Reader): Promise<void> {
  const { known, uninstalled, warehouses, excluded } = await readAvailable(reader, { organizationId: null });
  const worst = excluded
    .map(({ amounts: _, ...each }) => each)
    .toSorted((one, other) => compareStandings(one, other) || other.rows - one.rows);
  const seen = excluded.filter(({ as_of: at }) => at !== null).length;
  const failing = warehouses.filter(each => each.failing_since !== null).length;
  const sums = { known, uninstalled, available: warehouses.length };
  for (let most = 1; most <= excluded.length + 1; most++) {
    const { freshness, ...counts } = await readWarehouseCounts(reader, most);
    expect(withoutAges(counts), `${most}`).toEqual(
      withoutAges({
        ...sums,
        unavailable: { count: excluded.length, readCount: seen, worst: worst.slice(0, most) },
      }),
    );
    const count = (all: typeof freshness) => all.reduce((sum, { resources }) => sum + resources, 0);
    const failed = freshness.filter(each => each.failing_since !== null);
    expect([count(freshness), count(failed)]).toEqual([warehouses.length, failing]);
  }
}

async function checkAllLimits(reader: Reader): Promise<void> {
  const all = await readOrganizations(reader, Infinity);
  expect(isSortedByStanding(all)).toBe(true);
  expect(all).toHaveLength(ORGANIZATIONS + 3);
  const named = all.filter(({ organization_id: id }) => id === null);
  expect(named.map(({ resources }) => resources.length)).toEqual([1, 1]);
  for (let most = 1; most <= all.length; most++)
    expect(withoutAges(await readOrganizations(reader, most)), `${most}`).toEqual(
      withoutAges(all.slice(0, most)),
    );
}

describe.each(ENGINES)('$name', ({ library, seeds }) => {
  test.each(seeds)(
    'a limited list of organizations is the beginning of the whole list (seed %i)',
    async seed => {
      const { stage, reader } = await library();
      await fillRandomly(stage, seed);
      await checkAllLimits(reader);
    },
  );

  test.each(seeds)(
    'the counts of warehouse states agree with the states of the single warehouses (seed %i)',
    async seed => {
      const { stage, reader } = await library();
      await fillRandomly(stage, seed);
      await checkWarehouseStates(reader);
    },
  );

  test('reading one organization and summing over all agree with the list of all organizations', async () => {
    const { stage, reader } = await library();
    await fillRandomly(stage, 1);
    const all = await readOrganizations(reader, Infinity);
    for (const each of all) {
      if (each.organization_id === null) continue;
      expect(withoutAges(await readOrganization(reader, each.organization_id))).toEqual(withoutAges(each));
    }
    const stored = all.reduce((sum, { certificates }) => sum + (certificates['stored'] ?? 0), 0);
    expect(await sumCertificates(reader)).toMatchObject({ stored });
    expect(await readOrganization(reader, 'nobody')).toBe(null);
  });

  test('sums by project and by organization equal the sum of the available rows', async () => {
    const { stage, reader } = await library();
    await fillRandomly(stage, 2);
    const { rows } = await readAvailable(reader, { organizationId: null });
    const all = formatSumsByType(rows);
    expect(all).not.toBe('0 t');
    for (const by of [BY_PROJECT, BY_OWNER])
      expect(formatSumsByType(await sumWarehouses(reader, selectOwnersByFreshness('fresh'), by))).toBe(all);
    for (const { project_id: id, ...sum } of await sumWarehouses(reader, selectOwnersByFreshness('fresh'), [
      'project_id',
      'type',
    ])) {
      const own = rows.filter(row => row['project_id'] === id && row['type'] === sum.type);
      expect(formatSumsByType([sum])).toBe(formatSumsByType(own));
    }
  });
});
