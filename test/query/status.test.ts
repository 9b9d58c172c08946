import { expect, test } from 'vitest';
import {
  describeListState,
  isFrozen,
  readCertificateCounts,
  readOrganization,
  readOrganizations,
  readStatus,
  sumCertificates,
  worstOf,
} from '../../src/query/status.js';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import { breakReads, openFilledMirror } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';

test('organizations with problems come first, then those with the most credits', async () => {
  const mirror = await openFilledMirror({ organizations: 3 });
  await breakReads(mirror, 'organization-1');
  const names = async (most: number) =>
    (await readOrganizations(mirror.reader, most)).map(({ name }) => name);
  expect(await names(Infinity)).toEqual(['Organization 1', 'Organization 3', 'Organization 2']);
  expect(await names(2)).toEqual(['Organization 1', 'Organization 3']);
});

test('a list that the registry does not offer moves no organization to the front', async () => {
  const { reader, db } = await openFilledMirror({ organizations: 3 });
  await db.change(`UPDATE resource_states SET not_offered_at = '2026-05-04T12:00:00.000Z'
    WHERE organization_id = 'organization-1' AND resource = 'addresses'`);
  const organizations = await readOrganizations(reader, Infinity);
  expect(organizations.map(({ name }) => name)).toEqual([
    'Organization 3',
    'Organization 2',
    'Organization 1',
  ]);
});

test('an organization has all its lists, each with its state', async () => {
  const { reader } = await openFilledMirror({ organizations: 2 });
  const organization = await readOrganization(reader, 'organization-2');
  expect(organization).toMatchObject({
    name: 'Organization 2',
    state: 'active',
    installation_id: 'installation-2',
  });
  const stands = organization?.resources.map(each => [each.resource, each.state, each.rows]);
  expect(stands).toEqual(
    expect.arrayContaining([
      ['warehouse', 'fresh', 2],
      ['inventory', 'never_read', 0],
    ]),
  );
  expect(await readOrganization(reader, 'nobody')).toBe(null);
});

test('an organization that only a webhook has named has one row for all its lists', async () => {
  const { reader, mirror, clock } = await openFilledMirror({ organizations: 1 });
  const awaitedInstallations = ['i-8', 'i-9'].map(id => ({ id, organizationId: null }));
  await mirror.report({ at: new Date(clock.at).toISOString(), awaitedInstallations });
  const organizations = await readOrganizations(reader, Infinity);
  const webhookOnly = organizations.filter(({ organization_id: id }) => id === null);
  expect(webhookOnly.map(each => [each.installation_id, each.resources.map(list => list.state)])).toEqual([
    ['i-8', ['never_read']],
    ['i-9', ['never_read']],
  ]);
});

test('an organization has the state of its worst list; a withheld list counts only if its rows are kept', () => {
  const list = (state: string, reason: string | null, as_of: string | null = null) => ({
    state,
    reason,
    failing_since: null,
    rows: 1,
    as_of,
  });
  const fresh = list('fresh', null, 'T1');
  const withheld = list('no_access', 'no_permission');
  const frozen = list('no_access', 'no_permission', 'T1');
  expect(worstOf({ resources: [fresh, withheld] })).toEqual(fresh);
  expect(worstOf({ resources: [fresh, frozen] })).toEqual(frozen);
  expect(worstOf({ resources: [] })).toMatchObject({ state: 'never_read', reason: 'waiting' });
  expect([isFrozen(withheld), isFrozen(frozen), isFrozen(fresh)]).toEqual([false, true, false]);
  const details = { error: null, oldest_unread_at: null, worker_seen_at: null };
  const words = [fresh, withheld, frozen].map(each => describeListState({ ...each, ...details }));
  expect(words).toEqual([null, null, 'its 1 row is as of T1; nothing newer is known']);
});

test('certificates are counted by state, and those of retirements without a beneficiary separately', async () => {
  const { reader, read, port, pdfs, clock, db } = await openFilledMirror({ organizations: 1 });
  await read('retirements', [
    retirement('r-1-0'),
    retirement('r-2', { beneficiary: null, isClaimed: false }),
  ]);
  await createCertificateStore(port, pdfs(1_000), () => clock.at).makeNewDue();
  expect(await sumCertificates(reader)).toEqual({ pending: 2 });
  await db.change("UPDATE certificates SET state = 'unavailable' WHERE retirement_id = 'r-2'");
  await db.change("UPDATE certificate_sums SET certificates = 1 WHERE state = 'pending'");
  await db.change(
    "INSERT INTO certificate_sums (organization_id, state, certificates) VALUES ('organization-1', 'unavailable', 1) ON CONFLICT (organization_id, state) DO UPDATE SET certificates = 1",
  );
  expect(await sumCertificates(reader)).toEqual({ pending: 1, unclaimed: 1 });
  expect(await readCertificateCounts(reader)).toEqual({ pending: 1, unavailable: 1 });
  expect((await readOrganization(reader, 'organization-1'))?.certificates).toEqual({
    pending: 1,
    unclaimed: 1,
  });
});

test('the status counts the organizations that have data, and says that it includes those that left', async () => {
  const { reader, db } = await openFilledMirror({ organizations: 3 });
  await db.change("UPDATE resource_states SET as_of = NULL WHERE organization_id = 'organization-3'");
  await db.change("UPDATE installations SET state = 'uninstalled' WHERE organization_id = 'organization-2'");
  expect((await readStatus(reader, Date.now())).notes).toMatchObject({
    totals: { rows: 3 },
    coverage: { counted: 1, known: 2, missing: 1 },
    caveats: [{ code: 'uninstalled_included', organizations: 1 }],
  });
});

test('the status names the registry, all organizations and the findings', async () => {
  const { reader, clock, db } = await openFilledMirror({ organizations: 2 });
  const status = await readStatus(reader, clock.at);
  expect(status.registry).toMatch(/^http:\/\/registry\/?$/);
  expect(status.organizations).toHaveLength(2);
  expect(status.findings).toEqual({ countedAt: null, counts: [] });
  expect(status.worker).toEqual({ state: 'never_seen', seenAt: null });
  await db.change('DELETE FROM origin');
  expect((await readStatus(reader, clock.at)).registry).toBeNull();
});

test('the issues of the status include lists whose last read failed, as on the page Now', async () => {
  const mirror = await openFilledMirror({ organizations: 2 });
  const findChecks = async () =>
    (await readStatus(mirror.reader, mirror.clock.at)).issues.map(({ check }) => check);
  expect(await findChecks()).not.toContain('lists');
  await breakReads(mirror, 'organization-1');
  expect(await findChecks()).toContain('lists');
});
