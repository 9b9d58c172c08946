import { describe, expect, test } from 'vitest';
import { changing } from '../support/changing.js';
import { ENGINES, type Engine } from '../support/engines.js';
import { temporaryInbox } from '../support/inbox.js';

/** A mirror that has seen much, none of its claims beyond those of the inbox. */
async function played(stage: Engine['stage']) {
  const scene = await stage();
  temporaryInbox(scene.folder).close();
  const { change } = changing(scene, 8);
  for (let time = 0; time < 30; time += 1) await change();
  await scene.db.change('DELETE FROM fences');
  return scene;
}

const EARLIER = "'2020-01-01T00:00:00.000Z'";
const LATER = "'2099-01-01T00:00:00.000Z'";

/** One law of each kind, and what breaks it. */
const BREAKS: readonly (readonly [law: string, change: string])[] = [
  [
    'each version of retirements ends after it began',
    `UPDATE past SET valid_to = ${EARLIER} WHERE version = (SELECT max(version) FROM past WHERE resource = 'retirements')`,
  ],
  [
    'no two versions of retirements are true at once',
    `UPDATE past SET valid_to = ${LATER} WHERE version = (SELECT min(version) FROM past WHERE resource = 'retirements')`,
  ],
  [
    'no two versions of warehouse_credits are true at once',
    `UPDATE warehouse_credits SET valid_from = ${EARLIER}`,
  ],
  [
    'no version of warehouse_credits is dated in the future',
    `UPDATE warehouse_credits SET valid_from = ${LATER}`,
  ],
  ['each version of retirements has a number within the counter', 'UPDATE version_counter SET last = 1'],
  [
    'no number of a version is used twice',
    'UPDATE retirements SET version = (SELECT min(version) FROM warehouse_credits) WHERE version = (SELECT max(version) FROM retirements)',
  ],
  [
    'a version is gone for good where nothing took its place, and only there',
    'UPDATE past SET is_removed = 1 - is_removed WHERE version = (SELECT min(version) FROM past)',
  ],
  [
    'the syncs behind retirements are there',
    'DELETE FROM syncs WHERE id = (SELECT max(sync_id) FROM retirements)',
  ],
  [
    'a read wrote as many versions of retirements as it counted',
    "UPDATE syncs SET rows_added = rows_added + 1 WHERE resource = 'retirements'",
  ],
  ['no read is dated in the future, or ends before it began', `UPDATE syncs SET finished_at = ${EARLIER}`],
  [
    'the counter of retirements fits its rows',
    "UPDATE resource_states SET rows = 99 WHERE resource = 'retirements'",
  ],
  ['no resource was read in the future', `UPDATE resource_states SET attempted_at = ${LATER}`],
  ['a project that a row names is remembered', 'DELETE FROM project_references'],
  [
    'the counters of certificates fit their rows',
    'UPDATE certificate_sums SET certificates = certificates + 1',
  ],
  [
    'the file of a certificate is named by its retirement and its hash',
    "UPDATE certificates SET file = 'another.pdf' WHERE state = 'stored'",
  ],
  [
    'a certificate was fetched before it was checked last, and neither in the future',
    `UPDATE certificates SET checked_at = ${EARLIER} WHERE fetched_at IS NOT NULL`,
  ],
  [
    'no claim that the mirror has seen is above the counter of the inbox',
    "INSERT INTO fences (organization_id, part, claim) VALUES ('organization-1', 'data', 99)",
  ],
];

describe.each(ENGINES)('$name', ({ stage }) => {
  test('the laws hold after many changes', async () => {
    expect(await (await played(stage)).findBroken()).toEqual([]);
  });

  test.each(BREAKS)('it is found that this does not hold: %s', async (law, change) => {
    const scene = await played(stage);
    await scene.db.change(change);
    const broken = await scene.findBroken();
    expect(broken.map(found => found.law)).toContain(law);
    for (const { where } of broken) expect(where).toMatch(/./);
  });
});
