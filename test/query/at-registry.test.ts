import { expect, test } from 'vitest';
import {
  readDocuments,
  readLowestCreditId,
  readInstallations,
  readNewestInstallation,
  readNotCompared,
  readProjects,
  readComparableLists,
  readInstallationTargets,
  streamVersions,
} from '../../src/query/at-registry.js';
import { LISTS } from '../../src/resources/lists.js';
import { openFilledMirror, writeInstallation } from '../support/mirror/open.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;

const change = (filled: Filled, n: number, state: 'suspended' | 'uninstalled') =>
  writeInstallation(filled, n, { state, claim: 2 });

test('an installation is compared by its state and document, and an uninstalled one not at all', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  await change(filled, 2, 'uninstalled');
  await change(filled, 0, 'suspended');
  const installations = await readInstallations(filled.reader);
  expect(installations.map(({ key, organization_id: id }) => [key, id])).toEqual([
    ['installation-0', 'organization-0'],
    ['installation-1', 'organization-1'],
    ['installation-2', 'organization-2'],
  ]);
  expect(installations[1]?.kept).toMatch(/^active \{.*"id":"installation-1"/);
  expect(installations[2]?.kept).toBe(null);
  expect((await readInstallations(filled.reader, 'organization-2')).map(({ key }) => key)).toEqual([
    'installation-2',
  ]);
});

test('a project is requested through an active installation of an organization that references it', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const { reader, db } = filled;
  expect(await readProjects(reader)).toEqual([]);
  await db.change(
    "INSERT INTO projects (version, id, valid_from, sync_id, document) VALUES (900, 'project-1', '2026-01-01T00:00:00.000Z', 1, '{}')",
  );
  await db.change(
    "INSERT INTO project_states (project_id, state, checked_at) VALUES ('project-1', 'readable', '2026-01-01T00:00:00.000Z') ON CONFLICT (project_id) DO UPDATE SET state = 'readable'",
  );
  expect(await readProjects(reader)).toEqual([
    { organization_id: 'organization-1', installation_id: 'installation-1', key: 'project-1', kept: '{}' },
  ]);
  expect(await readProjects(reader, 'organization-2')).toMatchObject([{ organization_id: 'organization-2' }]);
  expect(await readProjects(reader, 'organization-3')).toEqual([]);
  await change(filled, 1, 'suspended');
  expect(await readProjects(reader)).toMatchObject([{ installation_id: 'installation-2' }]);
});

test('all versions of a table are streamed, past ones included', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 2 });
  clock.at += 1_000;
  await read('warehouse', [], { findGone: async ids => ids });
  const creditIds: string[] = [];
  for await (const row of streamVersions(reader, 'warehouse_credits'))
    creditIds.push(String(row['credit_id']));
  expect(creditIds.toSorted()).toEqual(['c-1-0', 'c-2-0', 'c-2-1']);
});

test('the documents of a list belong to one organization', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  const ids: string[] = [];
  for await (const row of readDocuments(reader, LISTS.retirements, 'organization-2'))
    ids.push(String(row['id']));
  expect(ids.toSorted()).toEqual(['r-2-0', 'r-2-1']);
});

test('a list can be compared only if it was read completely and may be read again', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const { reader } = filled;
  const readable = await readComparableLists(reader);
  expect(readable.map(each => `${each.installation_id} ${each.resource}`)).toEqual([
    'installation-1 organization',
    'installation-1 retirements',
    'installation-1 warehouse',
    'installation-2 organization',
    'installation-2 retirements',
    'installation-2 warehouse',
  ]);
  expect((await readComparableLists(reader, 'organization-2')).map(each => each.installation_id)).toEqual(
    Array.from({ length: 3 }, () => 'installation-2'),
  );
  await change(filled, 2, 'suspended');
  expect((await readComparableLists(reader)).map(each => each.installation_id)).not.toContain(
    'installation-2',
  );
  const left = await readNotCompared(reader);
  const leftOfFirst = await readNotCompared(reader, 'organization-1');
  expect(leftOfFirst).toEqual(left.filter(each => each.organization_id === 'organization-1'));
  expect(leftOfFirst.length).toBeGreaterThan(0);
  expect(
    left.filter(each => each.organization_id === 'organization-2').map(({ resource }) => resource),
  ).toContain('warehouse');
  expect(
    left.filter(each => each.organization_id === 'organization-1').map(({ resource }) => resource),
  ).not.toContain('warehouse');
});

test('lists and projects are read through the newest active installation of an organization', async () => {
  const { reader, mirror, clock } = await openFilledMirror({ organizations: 1 });
  const by = { organizationId: 'organization-1', claim: 2 };
  await writeInstallation({ mirror, clock }, 2, by);
  await writeInstallation({ mirror, clock }, 3, { ...by, state: 'suspended' });
  const readable = await readComparableLists(reader);
  expect(new Set(readable.map(each => each.installation_id))).toEqual(new Set(['installation-2']));
});

test('everything of an organization that only a webhook has named is not compared', async () => {
  const { reader, mirror, clock } = await openFilledMirror({ organizations: 1 });
  await mirror.report({
    at: new Date(clock.at).toISOString(),
    awaitedInstallations: [{ id: 'installation-9', organizationId: null }],
  });
  expect((await readNotCompared(reader))[0]).toEqual({
    organization_id: null,
    installation_id: 'installation-9',
    name: null,
    resource: '*',
    state: 'never_read',
    reason: null,
  });
});

test('the registry is requested through all installations that are not uninstalled, or through those of one organization', async () => {
  const filled = await openFilledMirror({ organizations: 3 });
  await change(filled, 2, 'suspended');
  await change(filled, 3, 'uninstalled');
  const targets = async (id: string | null) =>
    (await readInstallationTargets(filled.reader, id)).map(each => [each.installation_id, each.state]);
  expect(await targets(null)).toEqual([
    ['installation-1', 'active'],
    ['installation-2', 'suspended'],
  ]);
  expect(await targets('organization-3')).toEqual([['installation-3', 'uninstalled']]);
});

test('the active installation of an organization comes before newer inactive ones', async () => {
  const { mirror, clock, reader } = await openFilledMirror({ organizations: 1 });
  const by = { organizationId: 'organization-1', claim: 2, state: 'suspended' } as const;
  await writeInstallation({ mirror, clock }, 0, by);
  expect(await readNewestInstallation(reader, 'organization-1')).toMatchObject({ id: 'installation-1' });
  expect(await readNewestInstallation(reader, 'nobody')).toBe(null);
});

test('the first credit of a warehouse is the one with the lowest id', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  expect(await readLowestCreditId(reader, 'organization-2')).toBe('c-2-0');
  expect(await readLowestCreditId(reader, 'nobody')).toBe(null);
});
