import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { RESOURCES } from '../../migrations/mirror/0001/mirrored.js';
import { toCanonicalJson, computeCommitment } from '../../src/evidence/leaf.js';
import { discardForeignLeaves } from '../../src/evidence/discard-leaves.js';
import { LEAF_KINDS, type Leaf, NUMBERED_KINDS } from '../../src/evidence/port.js';
import { renewKey } from '../../src/evidence/renew-key.js';
import { continueAfterRestore } from '../../src/evidence/restore-log.js';
import { sealForExport } from '../../src/evidence/seal.js';
import { eraseLeaves } from '../../src/evidence/erase-leaves.js';
import { listRelations } from '../../src/store/migrations.js';
import { readKeyFile } from '../../src/evidence/key-file.js';
import { verifyLogAgainstMirror } from '../../src/evidence/verify-log.js';
import {
  beginRead,
  ENGINES,
  fillOrganizations,
  MINUTE,
  TRAFFIC,
  type TestEngine,
} from '../support/mirror/open.js';
import { credit, member, retirement, retirements } from '../support/mirror/rows.js';
import { openSealedMirror, readLeaves } from '../support/sealed-mirror.js';
import type { Value } from '../support/tables.js';

const DAY = 24 * 60 * MINUTE;

/** Opens a log with every kind of leaf, erased ones too. */
async function openVariedLog(engine: TestEngine) {
  const log = await openSealedMirror(engine);
  const { stage, round, sealer, lastSigned, keyFile } = log;
  await stage.mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1' });
  await fillOrganizations(stage, 2);
  await stage.read('inventory', [credit('c-1'), credit('c-2')]);
  await stage.read('members', [member('ada', 'ada@x.example'), member('bob', 'bob@x.example')]);
  await stage.read('retirements', [retirement('r-00000', { comment: 'new' }), ...retirements(4).slice(1)]);
  const failed = await beginRead(stage, 'inventory_requests');
  await failed.abandon({ code: 'http', message: 'the registry answered 503' }, TRAFFIC);
  await round();
  for (let day = 0; day < 2; day += 1) {
    await stage.read('retirements', [retirement('r-00000', { comment: 'new' }), ...retirements(4).slice(1)], {
      trigger: 'schedule',
    });
    stage.clock.at += DAY;
  }
  await sealForExport(sealer, null);
  const numbers = await stage.db.column<number>("SELECT version FROM members WHERE id = 'ada'");
  await eraseLeaves(
    sealer,
    'forget',
    async () => ({ kind: 'change', numbers }),
    async () => await stage.db.change("DELETE FROM members WHERE id = 'ada'"),
  );
  const what = async () => ({ organizationId: 'organization-2' });
  await eraseLeaves(sealer, 'purge', what, async () => {
    for (const table of ['warehouse_credits', 'installations', 'past', 'syncs', 'unchanged_spans'])
      await stage.db.change(`DELETE FROM ${table} WHERE organization_id = 'organization-2'`);
    await stage.db.change("DELETE FROM organizations WHERE id = 'organization-2'");
  });
  lastSigned.write({
    origin: 'mirror.example/log',
    size: 4711,
    root: 'A'.repeat(43).concat('='),
    signedAt: '',
  });
  await continueAfterRestore(sealer);
  await renewKey(sealer, keyFile);
  await round();
  const verified = () => verifyLogAgainstMirror({ port: log.port, lastSigned, key: readKeyFile(keyFile) });
  expect((await verified()).faults).toEqual([]);
  let edits = 0;
  /** Changes a row and seals it. Returns the message of the sealer if it refuses. */
  const sealMore = async (): Promise<string | null> => {
    edits += 1;
    stage.clock.at += 2 * MINUTE;
    await stage.read('retirements', [
      retirement('r-00000', { comment: `${edits}` }),
      ...retirements(4).slice(1),
    ]);
    stage.clock.at += 2 * MINUTE;
    try {
      await round();
      return null;
    } catch (error) {
      expect(error).toMatchObject({ name: 'EvidenceError' });
      return String(error);
    }
  };
  return { ...log, verified, sealMore };
}

/** Tables of the mirror whose rows are sealed, each with a column that identifies a row. */
const SEALED_TABLES = {
  ...Object.fromEntries(RESOURCES.map(({ table }) => [table, 'version'])),
  past: 'closed_version',
  syncs: 'id',
  unchanged_spans: 'id',
};

const TABLES = [...listRelations('sqlite', 'evidence'), ...listRelations('sqlite', 'mirror')];
const columnsOf = (name: string) =>
  Object.entries(TABLES.find(table => table.name === name)?.columns ?? {}).map(([column, [kind]]) => ({
    column,
    kind,
  }));

/** Returns a stored value of a row. */
function valueIn(row: object | undefined, column: string): Value {
  const found = new Map<string, Value>(Object.entries(row ?? {}));
  return found.get(column) ?? null;
}

/** Returns a value of a column that differs from the stored one. */
function otherValue(kind: string, value: Value, column: string): Value {
  if (kind === 'bytes') return randomBytes(32);
  if (kind === 'instant') return '2040-01-01T00:00:00.000Z';
  if (kind === 'json' || kind === 'cells') return '{"other":1}';
  if (kind === 'text') return column === 'kind' ? 'other' : `${typeof value === 'string' ? value : ''}x`;
  return Number(value ?? 0) + 1_000_003;
}

/** `TAMPERING=all` edits every column of every kind of leaf. */
const IS_ALL = process.env['TAMPERING'] === 'all';

/** Columns that are checked in another way for each kind of leaf. They are edited in every kind. */
const CHECKED_BY_KIND = new Set(['salt', 'number', 'subject']);

/**
 * Picks leaves in which a column is edited: two kinds with a value, one without, and an erased leaf. The kinds differ from
 * column to column.
 */
function pickLeaves(leaves: readonly Leaf[], column: string, index: number): readonly Leaf[] {
  const kinds = LEAF_KINDS.map((_, at) => LEAF_KINDS[(at + index) % LEAF_KINDS.length]);
  const whole = kinds.flatMap(kind => {
    const all = leaves.filter(leaf => leaf.kind === kind && leaf.salt !== null);
    return [...new Set([all[0], all.at(-1)])].filter(leaf => leaf !== undefined);
  });
  const erased = leaves.filter(({ salt }) => salt === null);
  if (IS_ALL) return [...whole, ...erased];
  const hasValue = (leaf: Leaf) => valueIn(leaf, column) !== null;
  return [
    ...whole.filter(hasValue).slice(0, CHECKED_BY_KIND.has(column) ? Infinity : 2),
    ...whole.filter(leaf => !hasValue(leaf)).slice(0, 1),
    ...erased.slice(index % erased.length, (index % erased.length) + 1),
  ];
}

describe.each(ENGINES)('$name', engine => {
  test('T90 an edit of any column of any kind of leaf is named by verify, and nothing false is signed while it lasts', async () => {
    const { port, forge, verified, sealMore } = await openVariedLog(engine);
    const leaves = await readLeaves(port);
    expect(new Set(leaves.map(({ kind }) => kind))).toEqual(new Set(LEAF_KINDS));
    const columns = columnsOf('evidence.leaves');
    const samples = columns.flatMap(({ column, kind }, index) =>
      pickLeaves(leaves, column, index).map(leaf => ({ leaf, column, kind })),
    );
    const unnamed: string[] = [];
    let refusals = 0;
    for (const { leaf, column, kind } of samples) {
      const stored = valueIn(leaf, column);
      const edited = otherValue(kind, stored, column);
      const place = column === 'place' ? Number(edited) : leaf.place;
      await forge(`UPDATE LEAVES SET ${column} = ? WHERE place = ?`, edited, leaf.place);
      const named = (await verified()).faults;
      if (named.length === 0) unnamed.push(`${leaf.kind} ${leaf.place} ${column}`);
      // A row whose leaf has another number is named as not there.
      const isCompared = leaf.salt !== null && (column !== 'number' || leaf.record !== null);
      if (CHECKED_BY_KIND.has(column) && isCompared)
        expect(named).toContainEqual({
          where: `${leaf.kind} ${column === 'number' ? Number(edited) : leaf.number}`,
          fault: expect.stringContaining('it is not as it was sealed'),
        });
      const refused = await sealMore();
      if (refused !== null) refusals += 1;
      await forge(`UPDATE LEAVES SET ${column} = ? WHERE place = ?`, stored, place);
      if (refused !== null) expect(await sealMore()).toBeNull();
      const { faults } = await verified();
      if (faults.length > 0)
        throw new Error(`${leaf.kind} ${leaf.place} ${column}: ${JSON.stringify(faults)}`);
    }
    expect(unnamed).toEqual([]);
    expect(refusals).toBeGreaterThan(samples.length / 4);
  });

  test('T90 an edit of a checkpoint is named, except of its stored hashes, which are computed again', async () => {
    const { port, forge, verified, sealMore } = await openVariedLog(engine);
    await sealMore();
    const [previous, newest] = (await port.listCheckpoints(0, Number.MAX_SAFE_INTEGER)).slice(-2);
    for (const checkpoint of [previous, newest])
      for (const { column, kind } of columnsOf('evidence.checkpoints')) {
        const stored = valueIn(checkpoint, column);
        const edited = otherValue(kind, stored, column);
        const size = checkpoint?.size ?? 0;
        await forge(`UPDATE CHECKPOINTS SET ${column} = ? WHERE size = ?`, edited, size);
        expect((await verified()).faults.length > 0, column).toBe(column !== 'peaks');
        const refused = await sealMore();
        if (column === 'peaks') expect(refused).toBeNull();
        if (column === 'size') await forge('DELETE FROM CHECKPOINTS WHERE size = ?', Number(edited));
        const columns = [checkpoint?.size ?? 0, checkpoint?.peaks ?? null, checkpoint?.note ?? null];
        await forge('DELETE FROM CHECKPOINTS WHERE size = ?', size);
        await forge('INSERT INTO CHECKPOINTS VALUES (?, ?, ?)', ...columns);
        expect(await sealMore()).toBeNull();
        expect((await verified()).faults).toEqual([]);
      }
  });

  test('a lock of the sealer that somebody made up does not stop it', async () => {
    const { stage, env, sealMore, verified } = await openVariedLog(engine);
    const table = env.MIRROR_DATABASE_URL === undefined ? null : 'evidence.sealer';
    if (table !== null)
      await stage.db.change(`UPDATE ${table} SET holder = 'x', until_at = '2099-01-01T00:00:00Z'`);
    expect(await sealMore()).toBeNull();
    expect((await verified()).faults).toEqual([]);
  });

  test('T90 an edit of any sealed column of the mirror is named by verify, also if a round seals meanwhile', async () => {
    const { stage, verified, round } = await openVariedLog(engine);
    const unnamed: string[] = [];
    let [named, tables] = [0, 0];
    for (const [table, key] of Object.entries(SEALED_TABLES)) {
      const [row] = await stage.db.rows<Record<string, Value>>(
        `SELECT * FROM ${table} WHERE ${key} IS NOT NULL ORDER BY ${key} DESC LIMIT 1`,
      );
      if (row === undefined) continue;
      tables += 1;
      for (const { column, kind } of columnsOf(`mirror.${table}`)) {
        const stored = row[column] ?? null;
        const edited = otherValue(kind, stored, column);
        const id = (column === key ? edited : row[key]) ?? null;
        /** The database refuses some values. */
        const isEdited = await stage.db
          .change(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`, edited, row[key] ?? null)
          .then(() => true)
          .catch(() => false);
        if (!isEdited) continue;
        if ((await verified()).faults.length > 0) named += 1;
        else unnamed.push(`${table}.${column}`);
        /** A row with another number would be sealed as a new one, and verify would name it for ever. */
        if (column !== key) {
          await stage.read('reservations', []);
          await round();
        }
        await stage.db.change(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`, stored, id);
        const { faults } = await verified();
        if (faults.length > 0) throw new Error(`${table}.${column}: ${JSON.stringify(faults)}`);
      }
    }
    expect(unnamed).toEqual([]);
    expect(named).toBeGreaterThan(60);
    expect(tables).toBeGreaterThan(6);
  });

  test('T90 a leaf that is hidden while another organization is sealed stops the sealer', async () => {
    const { port, stage, round, forge, verified } = await openSealedMirror(engine);
    await fillOrganizations(stage, 2);
    await round();
    await stage.read('warehouse', [credit('c-2-0', { organizationId: 'organization-2' })], {
      organizationId: 'organization-2',
    });
    await round();
    const leaves = await readLeaves(port);
    const hidden = leaves.findLast(
      ({ kind, subject }) => kind === 'organization' && subject === 'organization-2',
    );
    const place = Number(hidden?.place);
    await forge("UPDATE LEAVES SET subject = 'x' WHERE place = ?", place);
    await stage.read('retirements', retirements(4));
    await expect(round()).rejects.toThrow(/lists other leaves|is not as this program wrote it/);
    await forge('UPDATE LEAVES SET subject = NULL WHERE place = ?', place);
    stage.clock.at += 3 * MINUTE;
    await expect(round()).rejects.toThrow('lists other leaves than are there');
    await forge("UPDATE LEAVES SET subject = 'organization-2' WHERE place = ?", place);
    stage.clock.at += 3 * MINUTE;
    expect(await round()).not.toBeNull();
    expect((await verified()).faults).toEqual([]);
  });

  test('T90 a leaf that is erased by nobody known stops the sealer', async () => {
    const { port, stage, round, forge } = await openSealedMirror(engine);
    await fillOrganizations(stage, 2);
    await round();
    const leaf = (await readLeaves(port)).find(
      ({ kind, subject, resource }) =>
        kind === 'change' && subject === 'organization-2' && resource === 'warehouse',
    );
    const columns = ['subject', 'ended', 'observed', 'dated', 'micro', 'record', 'salt', 'plain_code'];
    await forge(
      `UPDATE LEAVES SET ${columns.map(column => `${column} = NULL`).join(', ')} WHERE place = ?`,
      Number(leaf?.place),
    );
    await stage.read('retirements', retirements(4));
    await expect(round()).rejects.toThrow('but not by forget or purge');
  });

  test.each(LEAF_KINDS)(
    'T90 an inserted leaf of kind %s is named, is not signed, and can be removed',
    async kind => {
      const { port, forge, verified, sealMore, sealer } = await openVariedLog(engine);
      const columns = columnsOf('evidence.leaves').map(({ column }) => column);
      const insert = async (place: number) => {
        const model = (await readLeaves(port)).findLast(leaf => leaf.kind === kind && leaf.salt !== null);
        const salt = randomBytes(32);
        const record = model?.record ?? toCanonicalJson({ kind, id: 4711 });
        const isNumbered = NUMBERED_KINDS.some(each => each === kind);
        const leaf: Record<string, unknown> = {
          ...model,
          place,
          number: isNumbered ? 4711 : place,
          salt,
          record: isNumbered ? null : record,
          commitment: computeCommitment(salt, record),
        } satisfies Partial<Leaf>;
        const values = columns.map(column => valueIn(leaf, column));
        await forge(`INSERT INTO LEAVES VALUES (${columns.map(() => '?').join(', ')})`, ...values);
      };
      for (const ahead of [0, 5, null]) {
        const { size } = await port.readProgress();
        const place = ahead === null ? -1 : size + ahead;
        await insert(place);
        const { faults } = await verified();
        expect(faults).not.toEqual([]);
        if (!NUMBERED_KINDS.some(each => each === kind) && kind !== 'open_span')
          expect(faults).toContainEqual({
            where: `leaf ${place} (${kind} ${place})`,
            fault: expect.stringMatching(/^this program did not write it/),
          });
        if (place >= 0) expect(await sealMore()).toMatch(/evidence discard|are there|is not there/);
        expect((await discardForeignLeaves(sealer)).foreign).toBe(1);
        expect(await sealMore()).toBeNull();
        expect((await verified()).faults).toEqual([]);
      }
    },
  );
});
