import { expect, test } from 'vitest';
import {
  findByName,
  findInstallation,
  findOrganization,
  MOST_CHOICES,
  readChoices,
  readNameOf,
  readNames,
  readOrganizationNames,
  readOrigin,
  readProjectNameFromRows,
  readUnlistedProjects,
} from '../../src/query/names.js';
import { openFilledMirror } from '../support/mirror/open.js';
import { credit, organization } from '../support/mirror/rows.js';

test('organizations and installations are listed by name', async () => {
  const { reader, read } = await openFilledMirror({ organizations: 2 });
  await read('organization', [organization('organization-1', { fullName: 'Zebra' })]);
  expect(await readNames(reader, 'organizations')).toEqual([
    { id: 'organization-2', name: 'Organization 2' },
    { id: 'organization-1', name: 'Zebra' },
  ]);
  expect(await readNames(reader, 'installations')).toEqual([
    { id: 'installation-2', name: 'Organization 2' },
    { id: 'installation-1', name: 'Zebra' },
  ]);
});

test('an organization has its name as of an instant, or its latest name if it was gone by then', async () => {
  const { reader, read, clock, db } = await openFilledMirror({ organizations: 1 });
  const before = new Date(clock.at).toISOString();
  clock.at += 1_000;
  await read('organization', [organization('organization-1', { fullName: 'Quay' })]);
  expect(await readNameOf(reader, 'organization-1', null)).toBe('Quay');
  expect(await readNameOf(reader, 'organization-1', before)).toBe('Organization 1');
  expect(await readNameOf(reader, 'nobody', null)).toBe(null);
  await db.change(
    "INSERT INTO resource_states (organization_id, resource) VALUES ('organization-8', 'warehouse')",
  );
  expect(await readOrganizationNames(reader)).toEqual([
    { id: 'organization-1', name: 'Quay' },
    { id: 'organization-8', name: null },
  ]);
});

test('a project has the name that credits and retirements give it, now or as of an instant', async () => {
  const { reader, read, clock } = await openFilledMirror({ organizations: 1 });
  const before = new Date(clock.at).toISOString();
  expect(await readProjectNameFromRows(reader, 'project-1')).toBe('Peat bog');
  clock.at += 1_000;
  await read('warehouse', [credit('c-9', { project: { id: 'project-2', fullName: null } })]);
  expect(await readProjectNameFromRows(reader, 'project-2')).toBe('project-2');
  expect(await readProjectNameFromRows(reader, 'project-2', before)).toBe(null);
  expect(await readProjectNameFromRows(reader, 'project-3')).toBe(null);
});

test('the origin names the registry from which the mirror was filled', async () => {
  const { reader } = await openFilledMirror();
  expect(await readOrigin(reader)).toMatchObject({ app_id: 'app-1' });
});

test('names are offered as choices unless there are too many of them', async () => {
  const { reader, db } = await openFilledMirror({ organizations: 1 });
  expect(await readChoices(reader, 'organizations', null)).toEqual([
    { value: 'organization-1', label: 'Organization 1' },
  ]);
  const more = Array.from(
    { length: MOST_CHOICES - 1 },
    (_, n) => `(${n + 1000}, 'o-${n}', '2026-01-01', 1, '{}')`,
  );
  const insert = 'INSERT INTO organizations (version, id, valid_from, sync_id, document) VALUES';
  await db.change(`${insert} ${more.join(', ')}`);
  expect(await readChoices(reader, 'organizations', null)).toHaveLength(MOST_CHOICES);
  await db.change(`${insert} (9000, 'one-more', '2026-01-01', 1, '{}')`);
  expect(await readChoices(reader, 'organizations', null)).toBe(null);
});

test('a project that only credits name is offered as a choice, now and as of an instant', async () => {
  const { reader, read, clock, db } = await openFilledMirror({ organizations: 1 });
  const project = { value: 'project-1', label: 'Peat bog' };
  expect(await readChoices(reader, 'projects', null)).toEqual([project]);
  const at = new Date(clock.at).toISOString();
  expect(await readChoices(reader, 'projects', at)).toEqual([project]);
  const before = '2020-01-01T00:00:00.000Z';
  expect(await readChoices(reader, 'projects', before)).toEqual([project]);
  expect(await readUnlistedProjects(reader, before)).toEqual([]);
  await read('warehouse', [credit('c-1', { project: { id: 'project-9', fullName: 'Fen' } })]);
  expect(await readUnlistedProjects(reader, null)).toContainEqual({ id: 'project-9', name: 'Fen' });
  await db.change("DELETE FROM warehouse_credits WHERE project_id = 'project-9'");
  expect(await readChoices(reader, 'projects', at)).toContainEqual({
    value: 'project-9',
    label: 'project-9',
  });
});

test('a row is found by its id, its name or the beginning of either, unless two rows match', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  for (const text of ['organization-2', 'Organization 2', 'ORGANIZATION 2', 'organization-2…', 'tion 2'])
    expect(await findOrganization(reader, text), text).toEqual({ id: 'organization-2' });
  expect(await findInstallation(reader, 'installation-1')).toEqual({ id: 'installation-1' });
  expect(await findOrganization(reader, 'Organization')).toMatchObject({
    isMissing: false,
    candidates: ['"Organization 1", organization-1', '"Organization 2", organization-2'],
  });
  expect(await findOrganization(reader, 'Orgnization 3')).toMatchObject({
    fault: 'There is no organization "Orgnization 3" in the mirror.',
    isMissing: true,
  });
  expect(await findOrganization(reader, ' ')).toMatchObject({ isMissing: false, candidates: [] });
});

test.each([
  ['a1', 'a1'],
  ['harbour ferries', 'a1'],
  ['harbour f', 'a1'],
  ['b', null],
  ['b1', 'b1'],
  ['LIGHTS', 'a2'],
  ['north', 'north'],
  ['r', null],
  ['Harbour', null],
  ['Twin', null],
])('the text "%s" means the row %s, or several', (text, id) => {
  const known = [
    { id: 'a1', name: 'Harbour Ferries' },
    { id: 'a2', name: 'Harbour Lights' },
    { id: 'b1', name: 'North Wind' },
    { id: 'b11', name: null },
    { id: 'north', name: null },
    { id: 't1', name: 'Twin' },
    { id: 't2', name: 'Twin' },
  ];
  const found = findByName(text, known, { what: 'organization', where: 'in the mirror' });
  if (id !== null) expect(found).toEqual({ id });
  else expect(found).toMatchObject({ what: 'organization', isMissing: false, candidates: expect.any(Array) });
});

test('at most ten of the rows that a name may mean are listed', () => {
  const known = Array.from({ length: 12 }, (_, n) => ({ id: `o-${n}`, name: n === 0 ? null : 'Twin' }));
  const sought = { what: 'organization', where: 'in the mirror' };
  expect(findByName('twin', known, sought)).toMatchObject({
    candidates: [...Array.from({ length: 10 }, (_, n) => `"Twin", o-${n + 1}`), 'and 1 more'],
  });
  expect(findByName('twin', known.slice(0, 11), sought)).not.toMatchObject({
    candidates: expect.arrayContaining([expect.stringContaining('more')]),
  });
  expect(findByName('Harbor-0', [{ id: 'harbour-0', name: null }], sought)).toEqual({
    what: 'organization',
    fault: 'There is no organization "Harbor-0" in the mirror.',
    isMissing: true,
    candidates: ['harbour-0'],
  });
});

test('an ellipsis is only left out at the end of a text, and an organization without a name is called by its id', async () => {
  const { reader, read } = await openFilledMirror({ organizations: 2 });
  await read('organization', [organization('organization-1', { fullName: 'Quay…East' })]);
  await read('organization', [organization('organization-2')], { organizationId: 'organization-2' });
  expect(await findOrganization(reader, 'Quay…East')).toEqual({ id: 'organization-1' });
  expect(await findOrganization(reader, 'Quay…')).toEqual({ id: 'organization-1' });
  expect(await findOrganization(reader, 'QuayEast')).toMatchObject({ isMissing: true });
  expect(await findOrganization(reader, '…')).toEqual({ id: 'organization-1' });
  expect(await readChoices(reader, 'organizations', null)).toEqual([
    { value: 'organization-2', label: 'organization-2' },
    { value: 'organization-1', label: 'Quay…East' },
  ]);
});

test('a name that matches completely, in any letter case, comes before names that only begin with the text', async () => {
  const { reader, read } = await openFilledMirror({ organizations: 2 });
  await read('organization', [organization('organization-1', { fullName: 'Quay' })]);
  const other = organization('organization-2', { fullName: 'Quay East' });
  await read('organization', [other], { organizationId: 'organization-2' });
  expect(await findOrganization(reader, 'quay')).toEqual({ id: 'organization-1' });
  expect(await findOrganization(reader, 'Quay E')).toEqual({ id: 'organization-2' });
});
