import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { toCanonicalJson, computeCommitment } from '../../src/evidence/leaf.js';
import {
  createOrganizationLeafInput,
  readCheckpointLeaf,
  computeMonthlyTotals,
} from '../../src/evidence/completeness-leaves.js';
import { eraseLeaves } from '../../src/evidence/erase-leaves.js';
import { ENGINES, MINUTE } from '../support/mirror/open.js';
import { amount, retirement } from '../support/mirror/rows.js';
import { ALL, openSealedMirror } from '../support/sealed-mirror.js';

const MARCH = '2026-03-01T10:00:00.000Z';
const APRIL = '2026-04-30T23:59:59.999Z';
const three = [
  retirement('a', { createdAt: MARCH, amount: amount('0.1') }),
  retirement('b', { createdAt: MARCH, amount: amount('9007199254.740993') }),
  retirement('c', { createdAt: APRIL, amount: amount('0.0000001') }),
];

type Sealed = Awaited<ReturnType<typeof openSealedMirror>>;

/** Reads what the newest checkpoint commits to for the organization. */
async function readNewestCommitment({ port }: Pick<Sealed, 'port'>) {
  const { leaf: complete, fields } = await readCheckpointLeaf(port, ALL);
  const { up_to: upTo } = fields;
  const [leaf] = await port.listLeaves({ newest: 'organization', beforeIndex: complete?.place ?? 0 });
  const { text, totals } = await computeMonthlyTotals(port, 'organization-1', upTo);
  const fact = await createOrganizationLeafInput(port, 'organization-1', leaf?.place ?? 0, totals);
  return { complete, upTo, leaf, text, record: toCanonicalJson(fact.record) };
}

describe.each(ENGINES)('$name', engine => {
  test('the last leaf of each checkpoint commits to every month of every list, with rows, exact sum and hash', async () => {
    const scene = await openSealedMirror(engine);
    await scene.stage.read('retirements', three);
    const size = await scene.round();
    const { complete, leaf, text, record } = await readNewestCommitment(scene);
    expect(complete?.place).toBe(Number(size) - 1);
    expect(computeCommitment(leaf?.salt ?? Buffer.of(), record)).toEqual(leaf?.commitment);
    const coverage = await scene.port.listLeaves({ newest: 'coverage', beforeIndex: Number(size) });
    const list = [leaf, ...coverage]
      .toSorted((one, other) => Number(one?.place) - Number(other?.place))
      .map(each => {
        const commitment = Buffer.from(each?.commitment ?? '').toString('hex');
        return `{"commitment":"${commitment}","kind":"${each?.kind}","named":${each?.place}}\n`;
      })
      .join('');
    expect(complete?.record).toContain(
      `"named_sha256":"${createHash('sha256').update(list).digest('hex')}","organizations":1,"previous_size":0,"sealed_at":"`,
    );
    const numbers = await scene.stage.db.column<number>(
      "SELECT version FROM retirements WHERE id IN ('a', 'b') ORDER BY version DESC",
    );
    const leaves = await scene.port.listLeaves({ kind: 'change', numbers: numbers.map(Number) });
    const lines = leaves
      .toReversed()
      .map(({ commitment }) => `${Buffer.from(commitment).toString('hex')}\n`)
      .join('');
    const march = createHash('sha256').update(lines).digest('hex');
    const months = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    const dated = { dated_by: 'registry', list: 'retirements' };
    expect(months.filter(each => each.list === 'retirements' && each.dated_by === 'registry')).toEqual([
      {
        ...dated,
        month: '2026-03',
        rows: 2,
        without_amount: 0,
        micro: '9007199254840993',
        commitments: march,
      },
      { ...dated, month: '2026-04', rows: 1, without_amount: 1, micro: '0', commitments: expect.any(String) },
    ]);
    expect(months).toContainEqual(
      expect.objectContaining({
        dated_by: 'mirror',
        list: 'retirements',
        rows: 3,
        micro: '9007199254840993',
      }),
    );
    expect(text).not.toContain('members');
  });

  test('a month is committed again only after a change, and its earlier contents can still be read', async () => {
    const scene = await openSealedMirror(engine);
    await scene.stage.read('retirements', three);
    await scene.round();
    const before = await readNewestCommitment(scene);
    expect(await scene.round()).toBe(Number(before.complete?.place) + 1);
    await scene.stage.read('retirements', [retirement('a', { createdAt: APRIL }), ...three.slice(1)]);
    scene.stage.clock.at += MINUTE;
    await scene.stage.read('retirements', three.slice(1));
    await scene.round();
    const after = await readNewestCommitment(scene);
    expect(after.text).toContain('"micro":"9007199254740993","month":"2026-03","rows":1,');
    expect(after.leaf?.place).toBeGreaterThan(Number(before.leaf?.place));
    const then = await computeMonthlyTotals(scene.port, 'organization-1', before.upTo);
    expect(then.text).toBe(before.text);
  });

  test('a sealer that was killed before the end of its round completes the commitment in the next round', async () => {
    const scene = await openSealedMirror(engine);
    await scene.stage.read('retirements', three);
    const { port } = scene;
    const touched = async () => Promise.reject(new Error('killed'));
    await expect(scene.round({ port: { ...port, listChangedOrganizations: touched } })).rejects.toThrow(
      'killed',
    );
    expect(await port.findCheckpoint(ALL)).toBeNull();
    scene.stage.clock.at += 2 * MINUTE;
    expect((await scene.round()) ?? 0).toBe(Number((await readNewestCommitment(scene)).complete?.place) + 1);
    expect((await readNewestCommitment(scene)).text).toContain('"month":"2026-03","rows":2,');
  });

  test('T95 a purged organization is in no later commitment', async () => {
    const scene = await openSealedMirror(engine);
    await scene.round();
    await eraseLeaves(
      scene.sealer,
      'purge',
      async () => ({ organizationId: 'organization-1' }),
      async () => scene.stage.db.change("DELETE FROM retirements WHERE organization_id = 'organization-1'"),
    );
    await scene.round();
    expect(await scene.port.listLeaves({ newest: 'organization', beforeIndex: ALL })).toEqual([]);
    expect((await readCheckpointLeaf(scene.port, ALL)).leaf?.record).toContain('"organizations":0,');
    expect((await scene.verified()).erased).toBeGreaterThan(3);
  });
});
