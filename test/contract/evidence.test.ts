import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findOverdueSeal } from '../../src/evidence/sealing-checks.js';
import { parseTreeHead } from '../../src/evidence/checkpoint.js';
import { createSigningKey } from '../../src/evidence/signing-key.js';
import type { EvidencePort } from '../../src/evidence/port.js';
import { toCanonicalJson, computeCommitment } from '../../src/evidence/leaf.js';
import { readStoreSettings } from '../../src/app/config/read-settings.js';
import { describeSealOfVersion } from '../../src/cli/evidence/evidence-log.js';
import { openEngine } from '../../src/store/open-engine.js';
import { describeSeal } from '../../src/evidence/describe-seal.js';
import { sealLog } from '../../src/evidence/seal.js';
import { eraseLeaves } from '../../src/evidence/erase-leaves.js';
import { ENGINES, beginRead, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { credit, retirement, retirements } from '../support/mirror/rows.js';
import { ALL, readCommitments, readLeaves, openSealedMirror } from '../support/sealed-mirror.js';

/** Computes the root of a Merkle tree by the definition of RFC 6962, independently of the code under test. */
function computeRoot(entries: readonly Uint8Array[]): Buffer {
  const sha256 = (...parts: readonly Uint8Array[]) =>
    createHash('sha256').update(Buffer.concat(parts)).digest();
  const [only] = entries;
  if (only === undefined) return sha256();
  if (entries.length === 1) return sha256(Buffer.of(0), only);
  let left = 1;
  while (left * 2 < entries.length) left *= 2;
  return sha256(Buffer.of(1), computeRoot(entries.slice(0, left)), computeRoot(entries.slice(left)));
}

const overridePort = (port: EvidencePort, what: Partial<EvidencePort>): EvidencePort => ({
  ...port,
  ...what,
});

describe.each(ENGINES)('$name', engine => {
  test('each change, each sync and the coverage are sealed once, under a root that can be recomputed from the leaves', async () => {
    const { stage, port, round, newest } = await openSealedMirror(engine);
    const changes = Number(await stage.db.value('SELECT count(*) FROM changes'));
    const syncs = Number(await stage.db.value("SELECT count(*) FROM syncs WHERE state <> 'running'"));
    const size = changes + syncs + 1 + 2;
    expect(await round()).toBe(size);
    const head = parseTreeHead((await newest()) ?? '');
    const root = computeRoot(await readCommitments(port)).toString('base64');
    expect(head).toEqual({ origin: 'mirror.example/log', size, root });
    expect((await port.findCheckpoint(ALL))?.note.trimEnd().split('\n').filter(Boolean)).toHaveLength(5);
    expect(await round()).toBe(size);
  });

  test('changes and removals are sealed by the next round, in a tree that extends the previous one', async () => {
    const { stage, port, round, newest } = await openSealedMirror(engine);
    const before = Number(await round());
    const first = parseTreeHead((await newest()) ?? '');
    await stage.read('retirements', [
      retirement('r-00000', { beneficiary: 'Another' }),
      ...retirements(3).slice(1),
    ]);
    await stage.read('inventory', [credit('c-1')]);
    stage.clock.at += MINUTE;
    await stage.read('inventory', []);
    stage.clock.at += 2 * MINUTE;
    await stage.read('inventory', []);
    const changed = await stage.db.column('SELECT change FROM changes ORDER BY number DESC LIMIT 3');
    expect(changed).toEqual(['removed', 'added', 'changed']);
    const after = Number(await round());
    expect(after).toBe(before + 3 + 4 + 2);
    const commitments = await readCommitments(port);
    expect(computeRoot(commitments.slice(0, before)).toString('base64')).toBe(first.root);
    expect(parseTreeHead((await newest()) ?? '').root).toBe(computeRoot(commitments).toString('base64'));
  });

  test('the simulated past of a demo is not sealed, and later changes are', async () => {
    const { stage, port, round, verified } = await openSealedMirror(engine);
    const until = new Date(stage.clock.at + MINUTE / 2).toISOString();
    await stage.mirror.checkOrigin({ baseUrl: 'http://127.0.0.1:1/', appId: 'app-1' });
    await stage.db.change('UPDATE origin SET simulated_until = ?', until);
    expect(await port.listNumberedInputs('change', 0, ALL)).toEqual([]);
    expect(await port.listNumberedInputs('sync', 0, 100)).toEqual([]);
    await round();
    stage.clock.at += MINUTE;
    await stage.read('retirements', retirements(4));
    await round();
    const leaves = (await readLeaves(port)).filter(({ resource }) => resource !== null);
    expect(leaves.map(({ kind, resource }) => `${kind} ${resource}`)).toEqual([
      'change retirements',
      'sync retirements',
    ]);
    expect(await verified()).toMatchObject({ faults: [] });
  });

  test('the sealed content of a row includes its dates, its document and each cell', async () => {
    const { stage, port, round } = await openSealedMirror(engine);
    await round();
    const factsNow = () => port.listNumberedInputs('change', 0, ALL);
    const before = await factsNow();
    for (const [column, value] of [
      ['valid_from', '2025-05-04T12:00:00.000Z'],
      ['document', '{}'],
      ['beneficiary', 'Nobody'],
      ['amount_micro', 1],
      ['sync_id', 99],
    ] as const) {
      const [was] = await stage.db.rows<Record<string, string>>(
        `SELECT ${column} FROM retirements WHERE id = 'r-00000'`,
      );
      await stage.db.change(`UPDATE retirements SET ${column} = ? WHERE id = 'r-00000'`, value);
      expect(await factsNow(), column).not.toEqual(before);
      await stage.db.change(
        `UPDATE retirements SET ${column} = ? WHERE id = 'r-00000'`,
        was?.[column] ?? null,
      );
    }
    expect(await factsNow()).toEqual(before);
  });

  test('T91 a log that was shortened, changed or rewritten is not signed', async () => {
    const { stage, port, round, newest } = await openSealedMirror(engine);
    await round();
    const signed = await newest();
    await stage.read('retirements', retirements(4));
    const changed = async function* (from: number, to: number) {
      for (const leaf of await readLeaves(port, from, to))
        yield [leaf.place === 1 ? { ...leaf, commitment: randomBytes(32) } : leaf];
    };
    const withoutCheckpoints = { findCheckpoint: async () => null };
    const shortened = {
      readProgress: async () => ({ ...(await port.readProgress()), size: 2 }),
      appendLeaves: async () => undefined,
    };
    await expect(round({ port: overridePort(port, shortened) })).rejects.toThrow('not signed: the log has');
    await expect(
      round({ port: overridePort(port, { ...withoutCheckpoints, iterateCommitments: changed }) }),
    ).rejects.toThrow('are not those that were signed');
    const key = () => createSigningKey('mirror.example/logs', randomBytes(32));
    await expect(round({ key })).rejects.toThrow('the last tree was one of mirror.example/log');
    expect(await newest()).toBe(signed);
    expect(await round()).toBeGreaterThan(parseTreeHead(signed ?? '').size);
  });

  test('T94 a sealer that was killed after its flush signs the same tree again', async () => {
    const { stage, port, round, lastSigned, newest, keyFile } = await openSealedMirror(engine);
    const killed = overridePort(port, { storeCheckpoint: async () => Promise.reject(new Error('killed')) });
    await expect(round({ port: killed })).rejects.toThrow('killed');
    const flushed = lastSigned.read();
    expect(await newest()).toBeNull();
    await stage.read('retirements', retirements(4));
    await round();
    expect(parseTreeHead((await newest()) ?? '').size).toBeGreaterThan(flushed?.size ?? 0);
    const commitments = await readCommitments(port, flushed?.size ?? 0);
    expect(computeRoot(commitments).toString('base64')).toBe(flushed?.root);
    expect(readFileSync(`${keyFile}.last-signed`, 'utf8')).toBe(await newest());
  });

  test('T91 without the file last-signed, the newest checkpoint of the key shows a shortened log', async () => {
    const { port, round, keyFile } = await openSealedMirror(engine);
    await round();
    rmSync(`${keyFile}.last-signed`);
    const shortened = {
      readProgress: async () => ({ ...(await port.readProgress()), size: 2 }),
      appendLeaves: async () => undefined,
    };
    await expect(round({ port: overridePort(port, shortened) })).rejects.toThrow('not signed: the log has');
  });

  test('only one sealer works at a time, and another one takes over after two minutes of silence', async () => {
    const { stage, port, sealer } = await openSealedMirror(engine);
    const second = { ...sealer, holder: 'second' };
    // The lock of a process that was killed before it could release it.
    expect(await port.acquireLock('killed', stage.clock.at, stage.clock.at + 2 * MINUTE)).toBe(true);
    expect(await sealLog(second)).toBeNull();
    stage.clock.at += 2 * MINUTE + 1;
    expect(await sealLog(second)).toBe((await port.readProgress()).size);
  });

  test('a round that fails releases its lock, so that the next round of another process need not wait', async () => {
    const { port, sealer } = await openSealedMirror(engine);
    const failing = overridePort(port, {
      readProgress: async () => Promise.reject(new Error('the disk is full')),
    });
    await expect(sealLog({ ...sealer, port: failing })).rejects.toThrow('the disk is full');
    expect(await sealLog({ ...sealer, holder: 'second' })).toBe((await port.readProgress()).size);
  });

  test('a round that loses its lock or is stopped signs nothing, and the next round signs', async () => {
    const { port, round, newest } = await openSealedMirror(engine);
    const stopped = new AbortController();
    const facts: EvidencePort['listNumberedInputs'] = (...asked) => {
      stopped.abort();
      return port.listNumberedInputs(...asked);
    };
    const stopping = { port: overridePort(port, { listNumberedInputs: facts }), signal: stopped.signal };
    await expect(round(stopping)).rejects.toThrow('or this one is to stop');
    const acquisitions = [true, false];
    const losing = overridePort(port, { acquireLock: async () => acquisitions.shift() ?? false });
    await expect(round({ port: losing })).rejects.toThrow('another seals meanwhile');
    expect(await newest()).toBeNull();
    const size = await round();
    expect(parseTreeHead((await newest()) ?? '').size).toBe(size);
  });

  test('a sealer that has finished blocks no other one, even if the clock stands still or was set back', async () => {
    const { stage, round, sealer } = await openSealedMirror(engine);
    const nobody = async () => ({ organizationId: 'nobody' });
    const purge = (holder: string) =>
      eraseLeaves({ ...sealer, holder }, 'purge', nobody, async () => 'removed');
    await round();
    expect(await purge('second')).toBe('removed');
    stage.clock.at -= MINUTE;
    expect(await purge('third')).toBe('removed');
    expect(await sealLog(sealer)).not.toBeNull();
  });

  test('running syncs and all later ones are sealed once they have ended', async () => {
    const { stage, port, round } = await openSealedMirror(engine);
    await stage.db.change('UPDATE syncs SET finished_at = NULL WHERE id > (SELECT max(id) - 2 FROM syncs)');
    await round();
    const open = (await port.readProgress()).sync;
    await stage.db.change('UPDATE syncs SET finished_at = started_at WHERE finished_at IS NULL');
    await round();
    expect((await port.readProgress()).sync).toBe(open + 2);
  });

  test('T90 a history without forgery has no faults and is covered to its last leaf', async () => {
    const { stage, round, verified } = await openSealedMirror(engine);
    expect(await verified()).toMatchObject({ leaves: 0, covered: 0, faults: [] });
    const first = await round();
    await stage.read('retirements', retirements(2));
    expect(await verified()).toMatchObject({ leaves: first, covered: first, waiting: 1, faults: [] });
    const second = await round();
    const none = { waiting: 0, erased: 0, removed: 0, syncsKeptSince: null, faults: [] };
    expect(await verified()).toEqual({ leaves: second, covered: second, ...none });
  });

  describe('missing syncs', () => {
    const DAY = 24 * 60 * MINUTE;

    /** Plays ten days, each with two reads of the same list. Pruning keeps the second one. */
    async function tenDays() {
      const all = await openSealedMirror(engine);
      const { stage, round } = all;
      await stage.mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1' });
      for (let day = 0; day < 10; day += 1) {
        await stage.read('retirements', retirements(3));
        stage.clock.at += MINUTE;
        await stage.read('retirements', retirements(3));
        stage.clock.at += DAY;
      }
      await round();
      return all;
    }

    test('T90 are counted if the program pruned them', async () => {
      const { stage, verified } = await tenDays();
      const before = stage.clock.at - 5 * DAY;
      const first = await stage.mirror.pruneSyncs(before - 3 * DAY);
      const removed = first + (await stage.mirror.pruneSyncs(before));
      expect(removed).toBeGreaterThan(first);
      const syncsKeptSince = new Date(before).toISOString();
      expect(await verified()).toMatchObject({ removed, syncsKeptSince, faults: [] });
    });

    test('T90 are found if they are newer than the ones that the program pruned', async () => {
      const { stage, verified } = await tenDays();
      await stage.mirror.pruneSyncs(stage.clock.at - 5 * DAY);
      await stage.db.change('DELETE FROM syncs WHERE id > (SELECT max(id) - 2 FROM syncs)');
      const { faults } = await verified();
      expect(faults).toHaveLength(2);
      expect(faults[0]?.fault).toBe('it was sealed, and is not there');
    });

    test('T90 are all found if the program never pruned any', async () => {
      const { stage, verified } = await tenDays();
      await stage.db.change('DELETE FROM syncs WHERE id = (SELECT min(id) FROM syncs)');
      expect((await verified()).faults).toHaveLength(1);
    });
  });

  const AS_SEALED = 'it is not as it was sealed';
  test.each([
    ['a changed cell', "UPDATE retirements SET beneficiary = 'Nobody' WHERE id = 'r-00001'", AS_SEALED],
    ['a changed sync', "UPDATE syncs SET started_at = '2025-05-04T12:00:00.000Z'", AS_SEALED],
    [
      'a deleted row',
      "DELETE FROM retirements WHERE id = 'r-00001'",
      'it was sealed (retirements), and is not there',
    ],
    ['a changed number', "UPDATE retirements SET version = 9999 WHERE id = 'r-00001'", 'it was sealed'],
  ])('T90 %s is found and named by its number', async (_what, sql, fault) => {
    const { stage, round, verified } = await openSealedMirror(engine);
    const number = await stage.db.value("SELECT version FROM retirements WHERE id = 'r-00001'");
    await round();
    await stage.db.change(sql);
    const { faults } = await verified();
    const isSync = sql.includes('syncs');
    expect(faults).toContainEqual({
      where: expect.stringMatching(isSync ? /^sync \d+$/ : new RegExp(`^change ${Number(number)}$`)),
      fault: expect.stringContaining(isSync || fault !== AS_SEALED ? fault : `${fault}: retirements r-00001`),
    });
  });

  test('T90 rows and a sync inserted with a number below the sealed ones are found', async () => {
    const { stage, round, verified } = await openSealedMirror(engine);
    await stage.read('inventory', [credit('c-1')]);
    await round();
    await stage.db.change("UPDATE inventory_credits SET version = -2 WHERE credit_id = 'c-1'");
    await stage.db.change("UPDATE retirements SET version = -1 WHERE id = 'r-00001'");
    await stage.db.change('UPDATE syncs SET id = -1 WHERE id = (SELECT max(id) FROM syncs)');
    const fault = 'it is older than what is sealed, and was never sealed';
    const { faults } = await verified();
    expect(faults).toContainEqual({ where: 'change -1', fault: `${fault}: retirements r-00001` });
    expect(faults).toContainEqual({ where: 'change -2', fault: `${fault}: inventory c-1` });
    expect(faults).toContainEqual({ where: 'sync -1', fault });
  });

  test('T90 a consistent change of a row and its leaf is found by the checkpoint, and a change of the checkpoint by the key', async () => {
    const { port, stage, round, verified, forge } = await openSealedMirror(engine);
    await round();
    await stage.db.change("UPDATE retirements SET beneficiary = 'Nobody' WHERE id = 'r-00001'");
    const facts = await port.listNumberedInputs('change', 0, ALL);
    const salt = randomBytes(32);
    for (const { number, record } of facts.filter(({ record: each }) => each['beneficiary'] === 'Nobody'))
      await forge(
        'UPDATE LEAVES SET salt = ?, commitment = ? WHERE number = ? AND kind = ?',
        salt,
        computeCommitment(salt, toCanonicalJson(record)),
        number,
        'change',
      );
    const other = 'it is the checkpoint of another log';
    const { faults } = await verified();
    expect(faults.map(({ fault }) => fault)).toEqual([
      other,
      'what was signed last is of another log',
      'it is not as this program wrote it',
    ]);
    await forge("UPDATE CHECKPOINTS SET note = replace(note, '— ', '— x')");
    expect((await verified()).faults).toContainEqual(
      expect.objectContaining({ fault: 'it is not signed by the key of that time' }),
    );
    await forge('DELETE FROM CHECKPOINTS');
    expect((await verified()).faults.map(({ fault }) => fault)).toEqual([
      'what was signed last is of another log',
      'it is not as this program wrote it',
    ]);
  });

  test('T90 a log without its end, and a salt removed to hide a deleted row, are found', async () => {
    const { port, stage, round, verified, forge } = await openSealedMirror(engine);
    await round();
    const { size, change } = await port.readProgress();
    await forge("UPDATE LEAVES SET salt = NULL WHERE kind = 'change' AND number = ?", change);
    await stage.db.change('DELETE FROM retirements WHERE version = ?', change);
    expect((await verified()).faults).toEqual([
      { where: '1 leaves without salt', fault: 'forget and purge erased 0' },
      expect.objectContaining({ fault: 'it is not as this program wrote it' }),
    ]);
    for (const away of [size, 2 ** 50]) {
      await forge('UPDATE LEAVES SET place = ? WHERE place = ?', away, size - 1);
      expect((await verified()).faults).toContainEqual({
        where: `leaves from ${size - 1} to ${away - 1}`,
        fault: 'they are not there',
      });
      await forge('UPDATE LEAVES SET place = ? WHERE place = ?', size - 1, away);
    }
    await forge('DELETE FROM LEAVES WHERE place = ?', size - 1);
    const { faults } = await verified();
    expect(faults.filter(({ where }) => where === `checkpoint of ${size} leaves`)).toHaveLength(2);
  });

  test('T95 a purge keeps hashes, erases salts and seals how many; a killed purge is reported until it is run again', async () => {
    const { port, stage, round, verified, sealer } = await openSealedMirror(engine);
    await round();
    const what = async () => ({ organizationId: 'organization-1' });
    const before = await readCommitments(port);
    const killed = eraseLeaves(sealer, 'purge', what, async () => Promise.reject(new Error('killed')));
    await expect(killed).rejects.toThrow('killed');
    expect((await verified()).faults.map(({ fault }) => fault)).toContain(
      'its salt is erased, and it is there still: forget or purge again',
    );
    await eraseLeaves(sealer, 'purge', what, async () => {
      await stage.db.change("DELETE FROM retirements WHERE organization_id = 'organization-1'");
      await stage.db.change("DELETE FROM syncs WHERE organization_id = 'organization-1'");
      await stage.db.change("DELETE FROM installations WHERE organization_id = 'organization-1'");
    });
    const { faults, erased } = await verified();
    expect(faults).toEqual([]);
    expect(erased).toBe(before.length - 1);
    expect((await readCommitments(port)).slice(0, before.length)).toEqual(before);
    const leaf = (await readLeaves(port)).find(({ kind }) => kind === 'purge');
    expect(JSON.parse(leaf?.record ?? '')).toEqual({
      kind: 'purge',
      leaves: before.length - 1,
      at: expect.any(String),
      erased_changes: 0,
      erased_sha256: expect.any(String),
      unlisted_places: expect.any(Number),
    });
    await round();
    expect((await verified()).faults).toEqual([]);
  });

  test('T90 the seal of a row names the checkpoint that covers it, or says that the row was changed', async () => {
    const { port, stage, round, newest, env } = await openSealedMirror(engine);
    const number = Number(await stage.db.value("SELECT version FROM retirements WHERE id = 'r-00001'"));
    expect(await describeSeal(port, number)).toBe('Not sealed yet.');
    const size = await round();
    const signedAt = (await newest())?.split('\n')[3];
    const told = `Sealed in the checkpoint of ${size} leaves, which was signed at ${signedAt}.`;
    await stage.read('retirements', retirements(4));
    await round();
    expect(await describeSeal(port, number)).toBe(told);
    expect(await describeSealOfVersion({ engine: openEngine(readStoreSettings(env)) }, number)).toBe(told);
    await stage.db.change("UPDATE retirements SET beneficiary = 'Nobody' WHERE id = 'r-00001'");
    expect(await describeSeal(port, number)).toMatch(/^It is not as it was sealed, as leaf \d+: see/);
  });

  test('T95 forgetting a person erases the leaves of the given row numbers, and no others', async () => {
    const { port, stage, round, verified, sealer } = await openSealedMirror(engine);
    await stage.read(
      'members',
      ['a', 'b'].map(id => ({ id, fullName: id, email: `${id}@x.example`, document: `{"id":"${id}"}` })),
    );
    await round();
    const number = Number(await stage.db.value("SELECT version FROM members WHERE id = 'a'"));
    await eraseLeaves(
      sealer,
      'forget',
      async () => ({ kind: 'change', numbers: [number] }),
      async () => stage.db.change("DELETE FROM members WHERE id = 'a'"),
    );
    expect(await verified()).toMatchObject({ erased: 1, faults: [] });
    expect(await port.listUnerasedLeaves({ resource: 'members' })).toHaveLength(1);
  });

  test('T44 T95 a worker that lost its claim changes nothing that was sealed meanwhile', async () => {
    const { stage, round, verified } = await openSealedMirror(engine);
    const read = await beginRead(stage, 'warehouse');
    const credits = Array.from({ length: 1_200 }, (_, index) => credit(`c-${index}`));
    await read.writeBatch(credits, stage.clock.at);
    await stage.mirror.raiseFence({ organizationId: 'organization-1', part: 'data', claim: 2 });
    await round();
    await expect(read.finish({ ...TRAFFIC, total: null })).rejects.toMatchObject({ code: 'fenced' });
    await read.abandon({ code: 'fenced', message: 'taken over' }, TRAFFIC);
    expect(await verified()).toMatchObject({ faults: [] });
  });

  test('T96 changes that wait behind a thousand numbers without anything to seal are counted correctly', async () => {
    const { port, stage, verified } = await openSealedMirror(engine);
    await stage.read('retirements', retirements(1001));
    await stage.mirror.checkOrigin({ baseUrl: 'http://127.0.0.1:1/', appId: 'app-1' });
    const until = new Date(stage.clock.at).toISOString();
    await stage.db.change('UPDATE origin SET simulated_until = ?', until);
    stage.clock.at += MINUTE;
    await stage.read('retirements', retirements(1003));
    expect(await findOverdueSeal(port, stage.clock.at + 6 * MINUTE)).toMatch(/^2 changes are not sealed/);
    expect(await verified()).toMatchObject({ waiting: 2, faults: [] });
  });

  test('T96 changes that wait too long to be sealed or signed are reported with their oldest date', async () => {
    const { port, stage, round } = await openSealedMirror(engine);
    expect(await findOverdueSeal(port, stage.clock.at)).toBeNull();
    expect(await findOverdueSeal(port, stage.clock.at + 6 * MINUTE)).toMatch(
      /^4 changes are not sealed, the oldest of 2026-/,
    );
    await round();
    expect(await findOverdueSeal(port, stage.clock.at + 60 * MINUTE)).toBeNull();
    await stage.read('retirements', retirements(4));
    const refused = overridePort(port, { storeCheckpoint: async () => Promise.reject(new Error('refused')) });
    await expect(round({ port: refused })).rejects.toThrow('refused');
    expect(await findOverdueSeal(port, stage.clock.at)).toBeNull();
    expect(await findOverdueSeal(port, stage.clock.at + 6 * MINUTE)).toMatch(
      / leaves are not signed, the newest checkpoint is of 2026-/,
    );
  });
});
