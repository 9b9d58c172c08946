import { expect, test } from 'vitest';
import {
  countInstalled,
  countSummedOrganizations,
  getOrganizationName,
  readKnownOrganizations,
  readListCoverage,
  readListNotes,
  readMirrored,
} from '../../src/query/coverage.js';
import { breakReads, openFilledMirror, writeInstallation } from '../support/mirror/open.js';
import { organization } from '../support/mirror/rows.js';

const UNINSTALLED = { state: 'uninstalled', claim: 2 } as const;

test('an organization is known if it has an installation or sent a webhook', async () => {
  const { mirror, clock, reader } = await openFilledMirror({ organizations: 1 });
  await mirror.report({
    at: new Date(clock.at).toISOString(),
    awaitedInstallations: [{ id: 'installation-9', organizationId: null }],
  });
  expect(await readKnownOrganizations(reader, null)).toEqual([
    { organization_id: null, installation_id: 'installation-9', name: null, state: 'never_read' },
    {
      organization_id: 'organization-1',
      installation_id: 'installation-1',
      name: 'Organization 1',
      state: 'active',
    },
  ]);
  expect(await readKnownOrganizations(reader, 'organization-1')).toMatchObject([{ name: 'Organization 1' }]);
  expect(await readKnownOrganizations(reader, 'nobody')).toEqual([]);
  expect(await countInstalled(reader)).toBe(2);
});

test('known organizations are listed by name', async () => {
  const { reader, read } = await openFilledMirror({ organizations: 2 });
  await read('organization', [organization('organization-1', { fullName: 'Zebra' })]);
  const known = await readKnownOrganizations(reader, null);
  expect(known.map(({ name }) => name)).toEqual(['Organization 2', 'Zebra']);
});

test.each([
  [{ name: 'Acme', organization_id: 'o-1', installation_id: 'i-1' }, 'Acme'],
  [{ name: null, organization_id: 'o-1', installation_id: 'i-1' }, 'o-1'],
  [{ name: null, organization_id: null, installation_id: 'i-1' }, 'i-1'],
])('an organization is called by its name, or by the best id that is known of it: %j', (known, name) => {
  expect(getOrganizationName(known)).toBe(name);
});

test('an uninstalled organization is no longer known', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  await writeInstallation(filled, 2, UNINSTALLED);
  expect(await countInstalled(filled.reader)).toBe(1);
});

test('sums include an organization once all its lists of amounts were read', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const { read, reader } = filled;
  expect(await countSummedOrganizations(reader, 'installed')).toBe(0);
  await read('inventory', [], { organizationId: 'organization-1' });
  expect(await countSummedOrganizations(reader, 'installed')).toBe(1);
  await read('inventory', [], { organizationId: 'organization-2' });
  await writeInstallation(filled, 2, UNINSTALLED);
  expect([
    await countSummedOrganizations(reader, 'installed'),
    await countSummedOrganizations(reader, 'uninstalled'),
  ]).toEqual([1, 1]);
});

test('the notes of a sum count the organizations that it includes, and those whose list is not fresh', async () => {
  const filled = await openFilledMirror({ organizations: 3 });
  expect(await readListNotes(filled.reader, 'warehouse')).toMatchObject({
    coverage: { counted: 3, known: 3, missing: 0 },
    caveats: [],
  });
  await breakReads(filled, 'organization-3');
  await writeInstallation(filled, 1, UNINSTALLED);
  expect(await readListNotes(filled.reader, 'warehouse')).toMatchObject({
    coverage: { counted: 2, known: 2, missing: 0 },
    caveats: [{ code: 'last_seen', organizations: 1 }],
  });
  expect(await readListNotes(filled.reader, 'members')).toMatchObject({
    coverage: { counted: 0, known: 2, missing: 2 },
    caveats: [],
  });
});

test('an organization is covered if its list, or any of its lists, was read completely', async () => {
  const filled = await openFilledMirror({ organizations: 3 });
  const read = (organizationId: string | null, resource: string | null) =>
    readListCoverage(filled.reader, { organizationId, resource });
  await writeInstallation(filled, 1, UNINSTALLED);
  await filled.read('inventory', [], { organizationId: 'organization-2' });
  expect(await read(null, null)).toEqual({ counted: 2, known: 2, missing: 0 });
  expect(await read(null, 'inventory')).toEqual({ counted: 1, known: 2, missing: 1 });
  expect(await read('organization-3', 'inventory')).toEqual({ counted: 0, known: 1, missing: 1 });
  expect(await read('nobody', null)).toEqual({ counted: 0, known: 0, missing: 0 });
});

test('mirrored organizations are counted, and those that no worker has read yet', async () => {
  const { reader, read } = await openFilledMirror({ organizations: 2 });
  const before = await readMirrored(reader);
  expect(before).toMatchObject({ organizations: 2, credits: 3, retirements: 3, certificates: 0 });
  await read('inventory', [], { organizationId: 'organization-1' });
  expect((await readMirrored(reader)).unread).toBe(before.unread - 1);
});
