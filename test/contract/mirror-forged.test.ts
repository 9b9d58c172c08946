import { describe, expect, test } from 'vitest';
import { createMirror } from '../../src/mirror/create-mirror.js';
import { parseObject } from '../../src/registry/json/json-object.js';
import { parseInstallation, parseProject } from '../../src/registry/json/parse-objects.js';
import { createProjectAnswer } from '../../src/mirror/sync-session.js';
import type { Retirement } from '../../src/registry/object-models.js';
import { ENGINES, type TestMirror, MINUTE, createListRead } from '../support/mirror/open.js';
import { credit, retirement, retirements } from '../support/mirror/rows.js';

const LIST: readonly Retirement[] = Array.from({ length: 6 }, (_, index) => retirement(`r-${index}`));
const COLUMNS = 'version, id, beneficiary, amount, amount_micro, amount_exact, created_at, document';
const WHOLE = `SELECT ${COLUMNS}, valid_from FROM retirements ORDER BY id`;
const VALUES = `SELECT ${COLUMNS.replace('version, ', '')} FROM retirements ORDER BY id`;

/** Changes of one row by somebody who can write the database and nothing else. */
const COLUMNS_ALONE = {
  'a text': "beneficiary = 'Somebody Else'",
  'a text that is not there': "comment = 'written in by hand'",
  'an amount': "amount_exact = '99.5'",
  'a number': 'amount = 99.5, amount_micro = 99500000',
  'a date of the registry': "created_at = '2020-01-01T00:00:00.000Z'",
  'a flag': 'is_claimed = 0',
} as const;

const forgedDocument = LIST[2]?.document.replaceAll('Harbour Ferries', 'Somebody Else') ?? '';
const AND_DOCUMENT = `beneficiary = 'Somebody Else', document = '${forgedDocument}'`;

const HOW = [
  ['on pages', 2],
  ['in one answer', null],
] as const;

async function changeRowByHand({ db }: TestMirror, change: string): Promise<void> {
  await db.change(`UPDATE retirements SET ${change} WHERE id = 'r-2'`);
}

async function findBrokenLaws({ findConsistencyFaults }: TestMirror): Promise<string[]> {
  return (await findConsistencyFaults()).map(({ law }) => law).filter(law => law.includes('retirements'));
}

describe.each(ENGINES)('$name', ({ library }) => {
  const stage = async () => (await library()).stage;

  describe.each(HOW)('%s', (_, limit) => {
    test.each(Object.entries(COLUMNS_ALONE))(
      'T89 a full read restores %s changed by hand, without a new version',
      async (_name, change) => {
        const scene = await stage();
        await scene.read('retirements', LIST, { limit });
        const before = await scene.db.rows(WHOLE);
        await changeRowByHand(scene, change);
        expect(await scene.db.rows(WHOLE.replace('document', 'document, comment, is_claimed'))).not.toEqual(
          before,
        );
        scene.clock.at += MINUTE;
        const read = await scene.read('retirements', LIST, { limit, full: true, trigger: 'person' });
        expect(read).toMatchObject({ state: 'complete', changed: 0, added: 0, removed: 0, unchanged: 6 });
        expect(read.fault).toMatchObject({
          code: 'mended',
          message: expect.stringMatching(/: r-2 \([a-z_, ]+\)$/),
        });
        expect(await scene.db.rows(WHOLE)).toEqual(before);
        expect(await scene.db.value("SELECT count(*) FROM past WHERE resource = 'retirements'")).toBe(0);
        expect(await findBrokenLaws(scene)).toEqual([]);
      },
    );

    test('T89 a full read replaces a row whose columns and document were changed consistently', async () => {
      const scene = await stage();
      await scene.read('retirements', LIST, { limit });
      const before = await scene.db.rows(VALUES);
      await changeRowByHand(scene, AND_DOCUMENT);
      scene.clock.at += MINUTE;
      const read = await scene.read('retirements', LIST, { limit, full: true, trigger: 'person' });
      expect(read).toMatchObject({ state: 'complete', fault: null, changed: 1, unchanged: 5 });
      expect(await scene.db.rows(VALUES)).toEqual(before);
      expect(await findBrokenLaws(scene)).toEqual([]);
    });

    test('T89 a full read restores rows removed by hand, and closes rows added by hand', async () => {
      const scene = await stage();
      await scene.read('retirements', LIST, { limit });
      const before = await scene.db.rows(VALUES);
      await scene.db.change("DELETE FROM retirements WHERE id IN ('r-1', 'r-4')");
      await scene.db.change("UPDATE retirements SET id = 'r-9' WHERE id = 'r-2'");
      scene.clock.at += MINUTE;
      const asked = { limit, full: true, trigger: 'person', findGone: async () => ['r-9'] } as const;
      expect(await scene.read('retirements', LIST, asked)).toMatchObject({ state: 'complete' });
      expect(await scene.db.rows(VALUES)).toEqual(before);
      expect(await scene.db.value("SELECT rows FROM freshness WHERE resource = 'retirements'")).toBe(6);
      expect(
        (await findBrokenLaws(scene)).filter(law => law.includes('counter') || law.includes('sums')),
      ).toEqual([]);
    });
  });

  test('T89 a full read closes a row that was added by hand to a complete list', async () => {
    const scene = await stage();
    await scene.read('warehouse', [credit('c-1'), credit('c-2')]);
    const columns = await scene.db.columns('warehouse_credits');
    const forged = columns.map(name =>
      name === 'version' ? 'version + 1000' : name === 'credit_id' ? "'c-3'" : name,
    );
    await scene.db.change(
      `INSERT INTO warehouse_credits (${columns.join(', ')}) SELECT ${forged.join(', ')} FROM warehouse_credits WHERE credit_id = 'c-1'`,
    );
    scene.clock.at += MINUTE;
    await scene.read('warehouse', [credit('c-1'), credit('c-2')], { full: true });
    expect(await scene.db.column('SELECT credit_id FROM warehouse_credits ORDER BY credit_id')).toEqual([
      'c-1',
      'c-2',
    ]);
    expect(await scene.db.value("SELECT rows FROM freshness WHERE resource = 'warehouse'")).toBe(2);
  });

  test('T89 the next answer restores a project or an installation changed by hand', async () => {
    const scene = await stage();
    const { db, mirror, clock } = scene;
    const parsed = parseProject(parseObject('{"id":"project-1","fullName":"Peat bog"}', 'project'));
    const when = { requestedAt: clock.at, arrivedAt: clock.at };
    const request = { organizationId: 'organization-1', claim: 1, startedAt: clock.at, trigger: 'person' };
    const write = async () =>
      (await mirror.beginProjects(request)).write([createProjectAnswer(parsed, when)]);
    await write();
    const tables = ['projects', 'installations'] as const;
    const before = await Promise.all(tables.map(table => db.rows(`SELECT * FROM ${table}`)));
    await db.change("UPDATE projects SET full_name = 'Elsewhere'");
    await db.change("UPDATE installations SET app_id = 'another', organization_id = 'organization-2'");
    expect(await write()).toEqual(['unchanged']);
    const installation = parseInstallation(parseObject(String(before[1]?.[0]?.['document']), 'installation'));
    const look = { installation, state: 'active', ...request, arrivedAt: clock.at } as const;
    expect(await mirror.writeInstallation(look)).toBe('unchanged');
    expect(await Promise.all(tables.map(table => db.rows(`SELECT * FROM ${table}`)))).toEqual(before);
  });

  test('T89 many rows changed by hand are restored in several writes and reported in one sentence', async () => {
    const scene = await stage();
    const many = retirements(1000);
    await scene.read('retirements', many, { limit: 100 });
    const before = await scene.db.rows(WHOLE);
    await scene.db.change("UPDATE retirements SET beneficiary = 'Somebody Else'");
    scene.clock.at += MINUTE;
    const read = await scene.read('retirements', many, { limit: 100, full: true });
    expect(read.fault?.message).toBe(
      'changed by hand, now restored: r-00000 (beneficiary); r-00001 (beneficiary); r-00002 (beneficiary) and 997 more',
    );
    expect(await scene.db.rows(WHOLE)).toEqual(before);
  });

  test('a scheduled read does not compare the columns of a row whose document is unchanged', async () => {
    const scene = await stage();
    await scene.read('retirements', LIST, { limit: 2 });
    const asked: string[] = [];
    const { port } = scene;
    scene.clock.at += MINUTE;
    const watched = createMirror(
      {
        ...port,
        findRows: (...given) => {
          const [, , withCells = false] = given;
          asked.push(withCells ? 'cells' : 'find');
          return port.findRows(...given);
        },
      },
      () => scene.clock.at,
    );
    const read = createListRead(watched, scene.clock);
    await read('retirements', LIST, { limit: 2, trigger: 'schedule' });
    expect(new Set(asked)).toEqual(new Set(['find']));
    scene.clock.at += MINUTE;
    await read('retirements', LIST, { limit: 2, trigger: 'person', full: true });
    expect(asked).toContain('cells');
  });
});
