import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readStore } from '../../src/app/config/config.js';
import { headOf } from '../../src/evidence/checkpoint.js';
import { lastSignedBeside, makeKeyFile } from '../../src/evidence/key-file.js';
import { openNote } from '../../src/evidence/note.js';
import type { EvidencePort } from '../../src/evidence/port.js';
import { seal } from '../../src/evidence/seal.js';
import { openEngine } from '../../src/store/open.js';
import { ENGINES, type Engine } from '../support/engines.js';
import { temporaryFolder } from '../support/inbox.js';
import { credit, MINUTE, retirement, retirements } from '../support/mirror.js';

const ALL = Number.MAX_SAFE_INTEGER;

/** A mirror with three retirements, and who seals it. */
async function sealed(engine: Engine) {
  const { stage, env } = await engine.library();
  const store = openEngine(readStore(env));
  await store.prepare(['inbox', 'mirror', 'evidence'], stage.clock.at, () => undefined);
  const port = await store.openEvidence();
  onTestFinished(() => port.close());
  const keyFile = join(temporaryFolder(), 'evidence.key');
  const key = makeKeyFile(keyFile, 'mirror.example/log');
  const lastSigned = lastSignedBeside(keyFile);
  const sealer = {
    port,
    key,
    lastSigned,
    now: () => stage.clock.at,
    randomBytes,
    holder: 'first',
    signal: new AbortController().signal,
  };
  const round = (more: Partial<typeof sealer> = {}) => {
    stage.clock.at += MINUTE;
    return seal({ ...sealer, ...more });
  };
  await stage.read('retirements', retirements(3));
  const newest = async () => openNote((await port.checkpoint(ALL))?.note ?? '', key);
  return { stage, port, round, key, keyFile, lastSigned, newest, sealer };
}

/** The recursion of RFC 6962, written out by itself. */
function rootOf(entries: readonly Uint8Array[]): Buffer {
  const sha256 = (...parts: readonly Uint8Array[]) =>
    createHash('sha256').update(Buffer.concat(parts)).digest();
  const [only] = entries;
  if (only === undefined) return sha256();
  if (entries.length === 1) return sha256(Buffer.of(0), only);
  let left = 1;
  while (left * 2 < entries.length) left *= 2;
  return sha256(Buffer.of(1), rootOf(entries.slice(0, left)), rootOf(entries.slice(left)));
}

const refusing = (port: EvidencePort, what: Partial<EvidencePort>): EvidencePort => ({ ...port, ...what });

describe.each(ENGINES)('$name', engine => {
  test('each change, each sync and the coverage are sealed once, under a root that anybody can compute', async () => {
    const { stage, port, round, newest } = await sealed(engine);
    const changes = Number(await stage.db.value('SELECT count(*) FROM changes'));
    const syncs = Number(await stage.db.value("SELECT count(*) FROM syncs WHERE state <> 'running'"));
    const size = changes + syncs + 1;
    expect(await round()).toBe(size);
    const head = headOf((await newest()) ?? '');
    const root = rootOf(await port.commitments(0, ALL)).toString('base64');
    expect(head).toEqual({ origin: 'mirror.example/log', size, root });
    expect((await port.checkpoint(ALL))?.note.trimEnd().split('\n').filter(Boolean)).toHaveLength(5);
    expect(await round()).toBe(size);
  });

  test('what changed and what went is sealed later, in a tree that goes on from the one before', async () => {
    const { stage, port, round, newest } = await sealed(engine);
    const before = Number(await round());
    const first = headOf((await newest()) ?? '');
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
    expect(after).toBe(before + 3 + 4);
    const commitments = await port.commitments(0, ALL);
    expect(rootOf(commitments.slice(0, before)).toString('base64')).toBe(first.root);
    expect(headOf((await newest()) ?? '').root).toBe(rootOf(commitments).toString('base64'));
  });

  test('a date, a document and a cell are each in what is sealed of a row', async () => {
    const { stage, port, round } = await sealed(engine);
    await round();
    const factsNow = () => port.changes(0, ALL);
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

  test('T91 a log that was shortened, changed or made anew is not signed', async () => {
    const { stage, port, round, newest } = await sealed(engine);
    await round();
    const signed = await newest();
    await stage.read('retirements', retirements(4));
    const [, second] = await port.commitments(0, 2);
    const changed = async (from: number, to: number) =>
      (await port.commitments(from, to)).map(each =>
        second?.every((byte, at) => byte === each[at]) ? randomBytes(32) : each,
      );
    const withoutCheckpoints = { checkpoint: async () => null };
    const shortened = {
      ends: async () => ({ ...(await port.ends()), size: 2 }),
      append: async () => undefined,
    };
    await expect(round({ port: refusing(port, shortened) })).rejects.toThrow('not signed: the log has');
    await expect(
      round({ port: refusing(port, { ...withoutCheckpoints, commitments: changed }) }),
    ).rejects.toThrow('are not those that were signed');
    expect(await newest()).toBe(signed);
    expect(await round()).toBeGreaterThan(headOf(signed ?? '').size);
  });

  test('T94 a sealer that is killed between its flush and the end signs the same tree again', async () => {
    const { stage, port, round, lastSigned, newest, keyFile } = await sealed(engine);
    const killed = refusing(port, { keep: async () => Promise.reject(new Error('killed')) });
    await expect(round({ port: killed })).rejects.toThrow('killed');
    const flushed = lastSigned.read();
    expect(await newest()).toBeNull();
    await stage.read('retirements', retirements(4));
    await round();
    expect(headOf((await newest()) ?? '').size).toBeGreaterThan(flushed?.size ?? 0);
    const commitments = await port.commitments(0, flushed?.size ?? 0);
    expect(rootOf(commitments).toString('base64')).toBe(flushed?.root);
    expect(readFileSync(`${keyFile}.last-signed`, 'utf8')).toBe(
      `${(await newest())?.split('\n').slice(0, 3).join('\n')}\n`,
    );
  });

  test('T91 a last-signed that was taken away is known from the newest checkpoint of this key', async () => {
    const { port, round, keyFile } = await sealed(engine);
    await round();
    rmSync(`${keyFile}.last-signed`);
    const shortened = {
      ends: async () => ({ ...(await port.ends()), size: 2 }),
      append: async () => undefined,
    };
    await expect(round({ port: refusing(port, shortened) })).rejects.toThrow('not signed: the log has');
  });

  test('one seals at a time, and the next once that one has been silent for two minutes', async () => {
    const { stage, port, round, sealer } = await sealed(engine);
    await round();
    expect(await seal({ ...sealer, holder: 'second' })).toBeNull();
    stage.clock.at += 2 * MINUTE + 1;
    expect(await seal({ ...sealer, holder: 'second' })).toBe((await port.ends()).size);
    expect(await seal(sealer)).toBeNull();
  });

  test('a sync that still runs, and all after it, are sealed once it has ended', async () => {
    const { stage, port, round } = await sealed(engine);
    await stage.db.change('UPDATE syncs SET finished_at = NULL WHERE id = (SELECT max(id) FROM syncs)');
    await round();
    const open = (await port.ends()).sync;
    await stage.db.change('UPDATE syncs SET finished_at = started_at WHERE finished_at IS NULL');
    await round();
    expect((await port.ends()).sync).toBe(open + 1);
  });
});
