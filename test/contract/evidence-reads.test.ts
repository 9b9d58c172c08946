import { readFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseTreeHead, getSignedAt } from '../../src/evidence/checkpoint.js';
import { parseLeafRecord } from '../../src/evidence/leaf.js';
import { readCheckpointLeaf } from '../../src/evidence/completeness-leaves.js';
import { readSealedReads } from '../../src/evidence/sealed-reads.js';
import { continueAfterRestore } from '../../src/evidence/restore-log.js';
import { sealForExport } from '../../src/evidence/seal.js';
import { ENGINES, beginRead, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { retirements } from '../support/mirror/rows.js';
import { ALL, openSealedMirror, readLeaves } from '../support/sealed-mirror.js';

const DAY = 24 * 60 * MINUTE;
type Scene = Awaited<ReturnType<typeof openSealedMirror>>;

async function failRead(scene: Scene) {
  scene.stage.clock.at += MINUTE;
  const read = await beginRead(scene.stage, 'retirements', { trigger: 'schedule' });
  await read.abandon({ code: 'http', message: 'the registry answered 503' }, TRAFFIC);
}

/** Reads what the newest leaf of the organization says about its reads. */
async function readOrganizationReads({ port }: Scene) {
  const { leaf: complete } = await readCheckpointLeaf(port, ALL);
  const [leaf] = await port.listLeaves({ newest: 'organization', beforeIndex: complete?.place ?? 0 });
  const { text, reads_sha256 } = await readSealedReads(port, 'organization-1', leaf?.place ?? 0);
  expect(parseLeafRecord(leaf)['reads_sha256']).toBe(reads_sha256);
  const lines = text.trimEnd().split('\n');
  return { lines, retirements: JSON.parse(lines.find(line => line.includes('"retirements"')) ?? '{}') };
}

describe.each(ENGINES)('$name', engine => {
  test('the leaf of an organization says when each list was last read completely and how many reads failed since', async () => {
    const scene = await openSealedMirror(engine);
    const { stage, round, port } = scene;
    const before = new Date(stage.clock.at).toISOString();
    await round();
    const sync = (await readLeaves(port)).findLast(({ kind }) => kind === 'sync');
    const first = { list: 'retirements', read_at: before, read_leaf: sync?.place };
    expect((await readOrganizationReads(scene)).retirements).toEqual({ ...first, failed_since: 0 });
    await failRead(scene);
    await failRead(scene);
    await round();
    expect((await readOrganizationReads(scene)).retirements).toEqual({ ...first, failed_since: 2 });
    await failRead(scene);
    await round();
    expect((await readOrganizationReads(scene)).retirements).toEqual({ ...first, failed_since: 3 });
    stage.clock.at += MINUTE;
    const recovered = new Date(stage.clock.at).toISOString();
    await stage.read('retirements', retirements(3), { trigger: 'schedule' });
    await round();
    expect((await readOrganizationReads(scene)).retirements).toMatchObject({
      read_at: recovered,
      failed_since: 0,
    });
    expect((await scene.verified()).faults).toEqual([]);
  });

  test('a list that was never read completely has failed reads and no instant', async () => {
    const scene = await openSealedMirror(engine);
    const read = await beginRead(scene.stage, 'inventory');
    await read.abandon({ code: 'http', message: 'the registry answered 503' }, TRAFFIC);
    await scene.round();
    expect((await readOrganizationReads(scene)).lines).toContain('{"failed_since":1,"list":"inventory"}');
  });

  test('complete reads without a failure before them cause no leaf of the organization', async () => {
    const scene = await openSealedMirror(engine);
    const { stage, round, port } = scene;
    await round();
    stage.clock.at += MINUTE;
    await stage.read('retirements', retirements(3));
    await round();
    const kinds = (await readLeaves(port)).map(({ kind }) => kind);
    expect(kinds.filter(kind => kind === 'organization')).toHaveLength(1);
    expect(kinds.slice(-2)).toEqual(['sync', 'complete']);
  });

  test('an export first seals the open spans of unchanged reads of its organizations, once', async () => {
    const scene = await openSealedMirror(engine);
    const { stage, round, sealer, port } = scene;
    const size = await round();
    stage.clock.at += MINUTE;
    await stage.read('retirements', retirements(3), { trigger: 'schedule' });
    stage.clock.at += MINUTE;
    const quiet = new Date(stage.clock.at).toISOString();
    await stage.read('retirements', retirements(3), { trigger: 'schedule' });
    expect(await round()).toBe(size);
    const exported = await sealForExport(sealer, 'organization-1');
    expect((await readLeaves(port, Number(size))).map(({ kind }) => kind)).toEqual([
      'open_span',
      'organization',
      'complete',
    ]);
    expect((await readOrganizationReads(scene)).retirements).toMatchObject({
      read_at: quiet,
      read_leaf: size,
    });
    expect(await sealForExport(sealer, null)).toBe(exported);
    expect(await sealForExport(sealer, 'organization-2')).toBe(exported);
    stage.clock.at += DAY;
    await stage.read('retirements', retirements(3), { trigger: 'schedule' });
    await round();
    expect((await scene.verified()).faults).toEqual([]);
  });

  test('no checkpoint is signed with an instant before the previous one, or before an observation that it covers', async () => {
    const scene = await openSealedMirror(engine);
    const { stage, round, newest, port } = scene;
    stage.clock.at += DAY;
    await stage.read('retirements', retirements(4));
    const observed = String(await stage.db.value('SELECT max(valid_from) FROM retirements'));
    stage.clock.at -= DAY;
    await round();
    const first = getSignedAt((await newest()) ?? '');
    expect(first >= observed).toBe(true);
    await stage.read('inventory', []);
    await round();
    expect(getSignedAt((await newest()) ?? '') >= first).toBe(true);
    const { fields } = await readCheckpointLeaf(port, ALL);
    expect(fields.sealed_at).toBe(getSignedAt((await newest()) ?? ''));
    expect(fields.previous_size).toBe((await port.listCheckpoints(0, ALL)).at(-2)?.size);
  });

  test('an observation that a killed round appended is not later than the checkpoint of the next round', async () => {
    const { stage, round, newest, port } = await openSealedMirror(engine);
    await round();
    stage.clock.at += DAY;
    await stage.read('retirements', retirements(4));
    const observed = String(await stage.db.value('SELECT max(valid_from) FROM retirements'));
    stage.clock.at -= DAY;
    const killed = { ...port, listChangedOrganizations: async () => Promise.reject(new Error('killed')) };
    await expect(round({ port: killed })).rejects.toThrow('killed');
    stage.clock.at += 3 * MINUTE;
    await round();
    expect(getSignedAt((await newest()) ?? '') >= observed).toBe(true);
  });

  test('T94 a checkpoint whose storage was killed is signed again with the same text', async () => {
    const { stage, round, newest, port, keyFile } = await openSealedMirror(engine);
    const killed = { ...port, storeCheckpoint: async () => Promise.reject(new Error('killed')) };
    await expect(round({ port: killed })).rejects.toThrow('killed');
    const flushed = readFileSync(`${keyFile}.last-signed`, 'utf8');
    stage.clock.at += 3 * MINUTE;
    await round();
    expect(await newest()).toBe(flushed);
  });

  test('T94 an empty log has nothing to continue, and a restored log keeps its name if every signed leaf is there', async () => {
    const { round, sealer, newest, stage } = await openSealedMirror(engine);
    expect(await continueAfterRestore(sealer)).toBeNull();
    const size = await round();
    const restored = await continueAfterRestore(sealer);
    expect(restored).toMatchObject({ origin: 'mirror.example/log', isNew: false, lost: 0 });
    await stage.read('retirements', retirements(4));
    expect(await round()).toBeGreaterThan(Number(size));
    expect(parseTreeHead((await newest()) ?? '').origin).toBe('mirror.example/log');
  });

  test('T94 a restored log without a checkpoint and without the file last-signed gets a new name', async () => {
    const { stage, round, sealer, port, keyFile } = await openSealedMirror(engine);
    const killed = { ...port, storeCheckpoint: async () => Promise.reject(new Error('killed')) };
    await expect(round({ port: killed })).rejects.toThrow('killed');
    rmSync(`${keyFile}.last-signed`);
    const unknown = { isNew: true, held: null, newest: null, lost: 0 };
    expect(await continueAfterRestore(sealer)).toMatchObject(unknown);
    const leaf = (await readLeaves(port)).at(-1);
    const at = new Date(stage.clock.at).toISOString();
    const origin = `mirror.example/log/${at}`;
    expect(parseLeafRecord(leaf)).toEqual({ kind: 'restore', at, origin, lost: 0 });
  });

  test('T94 a restored log without some signed leaves gets a new name, and its first leaf names the lost checkpoint', async () => {
    const { round, sealer, newest, stage, port, forge, verified } = await openSealedMirror(engine);
    const size = Number(await round());
    await stage.read('retirements', retirements(4));
    await round();
    const lost = parseTreeHead((await newest()) ?? '');
    const lostAt = getSignedAt((await newest()) ?? '');
    await forge('DELETE FROM LEAVES WHERE place >= ?', size);
    await forge('DELETE FROM CHECKPOINTS WHERE size > ?', size);
    const restored = await continueAfterRestore(sealer);
    expect(restored).toMatchObject({ isNew: true, lost: lost.size - size });
    const leaf = (await readLeaves(port)).find(({ kind }) => kind === 'restore');
    expect(leaf?.place).toBe(size);
    expect(parseLeafRecord(leaf)).toMatchObject({
      lost: lost.size - size,
      lost_origin: 'mirror.example/log',
      lost_root: lost.root,
      lost_signed_at: lostAt,
      lost_size: lost.size,
      held_size: size,
    });
    await round();
    expect(parseTreeHead((await newest()) ?? '').origin).toBe(restored?.origin);
    expect((await verified()).faults).toEqual([]);
  });
});
