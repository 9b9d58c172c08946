import { expect, test } from 'vitest';
import { describeFirstReads, estimateFirstReads, readFirstReads } from '../../src/query/first-reads.js';
import { readStatus } from '../../src/query/status.js';
import { formatEstimate } from '../../src/text/duration.js';
import { openFilledMirror, writeInstallation } from '../support/mirror/open.js';

type Filled = Awaited<ReturnType<typeof openFilledMirror>>;
const MINUTE = 60_000;

/** Reports installations that the registry has listed and no job has read. */
async function discover({ mirror, clock }: Filled, ...ids: readonly string[]): Promise<void> {
  const awaitedInstallations = ids.map(id => ({ id, organizationId: `new-${id}` }));
  await mirror.report({ at: new Date(clock.at).toISOString(), awaitedInstallations });
}

test('a mirror whose organizations were all read has no first reads left', async () => {
  const { reader, clock } = await openFilledMirror({ organizations: 2 });
  expect(await readFirstReads(reader, clock.at)).toBe(null);
  expect((await readStatus(reader, clock.at)).firstReads).toBe(null);
});

test('organizations of which nothing was read are counted, and the calls of those that were read', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  const { reader, clock, inbox } = filled;
  await discover(filled, 'a', 'b', 'c');
  const workers = ['one', 'two'].map(host => ({ role: 'work', host, pid: 7, startedAt: clock.at }) as const);
  for (const self of workers) await inbox.heartbeat(self);
  const firstReads = await readFirstReads(reader, clock.at);
  // Each organization was read in three lists with one call each; a token is one more.
  expect(firstReads).toEqual({ organizations: 5, organizationsToGo: 3, callsPerOrganization: 4, workers: 2 });
  expect((await readFirstReads(reader, clock.at + MINUTE))?.workers).toBe(2);
  expect((await readFirstReads(reader, clock.at + MINUTE + 1))?.workers).toBe(0);
});

test('certificates count as calls, up to one of four', async () => {
  const filled = await openFilledMirror({ organizations: 2 });
  await discover(filled, 'a');
  const callsWith = async (certificates: number) => {
    await filled.db.change('DELETE FROM certificate_sums');
    const insert =
      "INSERT INTO certificate_sums (organization_id, state, certificates) VALUES ('organization-1', 'stored', ?)";
    await filled.db.change(insert, certificates);
    return (await readFirstReads(filled.reader, filled.clock.at))?.callsPerOrganization;
  };
  expect(await callsWith(2)).toBe(5);
  expect(await callsWith(1_000)).toBeCloseTo(4 + 4 / 3);
});

test('organizations that failed, were suspended or removed the app are not waited for', async () => {
  const filled = await openFilledMirror({ organizations: 1 });
  const { reader, clock, mirror, db } = filled;
  for (const [n, state] of [
    [2, 'suspended'],
    [3, 'uninstalled'],
    [4, 'active'],
    [5, 'active'],
  ] as const)
    await writeInstallation({ mirror, clock }, n, { state });
  expect(await readFirstReads(reader, clock.at)).toMatchObject({ organizations: 4, organizationsToGo: 2 });
  const failed = "UPDATE resource_states SET attempted_at = ? WHERE organization_id = 'organization-5'";
  await db.change(failed, new Date(clock.at).toISOString());
  expect(await readFirstReads(reader, clock.at)).toMatchObject({ organizations: 4, organizationsToGo: 1 });
});

test('before anything was read, a call for each list, the projects and the token are assumed', async () => {
  // The mirror has one installation that was not read.
  const filled = await openFilledMirror({ organizations: 0 });
  await discover(filled, 'a');
  expect(await readFirstReads(filled.reader, filled.clock.at)).toEqual({
    organizations: 2,
    organizationsToGo: 2,
    callsPerOrganization: 10,
    workers: 0,
  });
});

test('the time that is left follows from the calls and the limits of all running workers', () => {
  const firstReads = { organizations: 1_000, organizationsToGo: 726, callsPerOrganization: 9.9, workers: 1 };
  const estimate = estimateFirstReads(firstReads, 20);
  expect(estimate).toEqual({ ...firstReads, callsPerSecond: 20, secondsLeft: 360 });
  expect(describeFirstReads(estimate)).toBe(
    'catching up: 726 of 1,000 organizations to go, about 6 minutes at 20 calls a second',
  );
  expect(estimateFirstReads({ ...firstReads, workers: 3 }, 20)).toMatchObject({
    callsPerSecond: 60,
    secondsLeft: 120,
  });
  const stopped = estimateFirstReads({ ...firstReads, workers: 0 }, 20);
  expect(stopped.secondsLeft).toBe(null);
  expect(describeFirstReads(stopped)).toBe(
    'catching up: 726 of 1,000 organizations to go, no worker is running',
  );
});

test('an estimate is given in minutes up to two hours, and then in hours', () => {
  expect([59, 60, 89, 360, 7_140, 7_200, 100_000].map(formatEstimate)).toEqual([
    'less than a minute',
    'about 1 minute',
    'about 1 minute',
    'about 6 minutes',
    'about 119 minutes',
    'about 2 hours',
    'about 28 hours',
  ]);
});
