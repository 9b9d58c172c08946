import { readFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CheckReport } from '../../src/evidence/checker/check.js';
import type { RowVersion } from '../../src/evidence/checker/row-versions.js';
import { parseSignedTreeHead } from '../../src/evidence/checkpoint.js';
import { readReplacedKeys } from '../../src/evidence/key-file.js';
import { renewKey } from '../../src/evidence/renew-key.js';
import { continueAfterRestore } from '../../src/evidence/restore-log.js';
import { sealForExport } from '../../src/evidence/seal.js';
import { eraseLeaves } from '../../src/evidence/erase-leaves.js';
import type { EvidencePort } from '../../src/evidence/port.js';
import { beginRead, type TestEngine, ENGINES, MINUTE, TRAFFIC } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { checkContent, checkFolder, type FolderContent, readContent } from '../support/evidence-folder.js';
import { openExportableLog, openForgeableLog } from '../support/exported-evidence.js';
import { forgeFolder } from '../support/forgeries.js';
import { createRandom, pick } from '../support/random.js';
import { openSealedMirror } from '../support/sealed-mirror.js';
import { engineIndependent } from '../support/long.js';

/** The first seed. `npm run torture -- forgery` sets it and the number of seeds. */
const FIRST = Number(process.env['FORGERY_SEED'] ?? 1);
const listSeeds = (name: string, few: number) =>
  Array.from({ length: Number(process.env[name] ?? few) }, (_, at) => FIRST + at);

type Random = () => number;

/** Changes a file of a folder in a random way: a bit, a byte more or less, a line more or less, other digits, or its end. */
function mutate(
  content: FolderContent,
  random: Random,
): { readonly what: string; readonly mutated: FolderContent } {
  const checked = [...content.keys()].filter(name => /^(?:evidence|checkpoint|certificates)/.test(name));
  const name = random() < 0.6 ? 'evidence.jsonl' : pick(random, checked, 'evidence.jsonl');
  const bytes = Buffer.from(content.get(name) ?? Buffer.of());
  const lines = bytes.toString('latin1').split('\n');
  const [offset, line] = [Math.floor(random() * bytes.length), Math.floor(random() * lines.length)];
  const join = (changed: readonly string[]) => Buffer.from(changed.join('\n'), 'latin1');
  const [before, after] = [bytes.subarray(0, offset), bytes.subarray(offset)];
  const mutations: Readonly<Record<string, () => Buffer>> = {
    'a bit': () => {
      const changed = Buffer.from(bytes);
      changed[offset] = (changed[offset] ?? 0) ^ (1 << Math.floor(random() * 8));
      return changed;
    },
    'a byte less': () => Buffer.concat([before, after.subarray(1)]),
    'a byte more': () => Buffer.concat([before, Buffer.of(Math.floor(random() * 256)), after]),
    'a line less': () => join(lines.toSpliced(line, 1)),
    'a line twice': () => join(lines.toSpliced(line, 0, pick(random, lines, ''))),
    'two lines in another order': () => join([...lines.slice(0, line), ...lines.slice(line).toReversed()]),
    'other digits': () =>
      join(
        lines.with(
          line,
          (lines[line] ?? '').replace(/\d/g, digit =>
            random() < 0.8 ? digit : String(Math.floor(random() * 10)),
          ),
        ),
      ),
    'the end is missing': () => before,
  };
  const kind = pick(random, Object.keys(mutations), 'a bit');
  const mutated = new Map(content).set(name, mutations[kind]?.() ?? bytes);
  return { what: `${kind} of ${name}`, mutated };
}

/** Collects what a verified folder says about the log. Earlier versions and reads may be left out, which the report counts. */
function listFacts({ evidence }: CheckReport) {
  const listTexts = (rows: readonly RowVersion[]) =>
    rows.map(({ leaf }) => `${leaf.leafIndex} ${leaf.recordJson}`).toSorted();
  const isMain = ({ list }: RowVersion) => evidence?.header.scope !== 'retirement' || list === 'retirements';
  return {
    header: evidence?.header,
    checkpoint: evidence?.checkpoint.text,
    rows: listTexts(evidence?.rows.filter(isMain) ?? []),
    months: evidence?.months.map(({ hashedText }) => hashedText),
    reads: evidence?.reads.map(({ hashedText }) => hashedText),
    events: evidence?.logEvents.map(({ recordJson }) => recordJson),
    keys: evidence?.signer.changes,
    older: evidence?.older?.counts?.months.map(({ hashedText }) => hashedText),
    ended: listTexts(evidence?.older?.counts?.ended.map(({ before }) => before) ?? []),
  };
}

type Facts = ReturnType<typeof listFacts>;

/** Expects the honest facts. If the header names a part of the period, they may be those of that part. */
function expectTrueFacts(facts: Facts, honest: Facts, description: string): void {
  if (facts.header?.value === honest.header?.value) return expect(facts, description).toEqual(honest);
  expect(facts.header, description).toMatchObject({ scope: 'period' });
  expect(facts.header?.value, description).toMatch(new RegExp(`^${honest.header?.value}-`));
  for (const name of ['rows', 'months', 'reads', 'events', 'older', 'ended'] as const)
    expect(honest[name], description).toEqual(expect.arrayContaining(facts[name] ?? []));
}

/** The tables that a backup contains: the sealed tables of the mirror, and the log. */
const KEPT = ['retirements', 'inventory_credits', 'installations', 'organizations', 'past', 'syncs'];
const STATE = ['resource_states', 'version_counter'];
const LOGGED = ['LEAVES', 'CHECKPOINTS'];

type Scene = Awaited<ReturnType<typeof openSealedMirror>>;

async function removeBackup({ stage, forge }: Scene): Promise<void> {
  for (const table of [...KEPT, ...STATE]) await stage.db.change(`DROP TABLE IF EXISTS kept_${table}`);
  for (const table of LOGGED) await forge(`DROP TABLE IF EXISTS kept_${table.toLowerCase()}`);
}

async function createBackup(scene: Scene): Promise<void> {
  const { stage, forge } = scene;
  await removeBackup(scene);
  for (const table of [...KEPT, ...STATE]) {
    await stage.db.change(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
  }
  for (const table of LOGGED) {
    await forge(`CREATE TABLE kept_${table.toLowerCase()} AS SELECT * FROM ${table}`);
  }
}

async function restoreBackup({ stage, forge }: Scene): Promise<void> {
  for (const table of [...KEPT, ...STATE]) {
    await stage.db.change(`DELETE FROM ${table}`);
    await stage.db.change(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
  }
  for (const table of LOGGED) {
    await forge(`DELETE FROM ${table}`);
    await forge(`INSERT INTO ${table} SELECT * FROM kept_${table.toLowerCase()}`);
  }
}

/** Plays a random history with killed sealers, failed and quiet reads, new keys, restored backups, erased people and organizations. */
async function playHistoryWithoutForgery(engine: TestEngine, random: Random): Promise<string[]> {
  const scene = await openSealedMirror(engine);
  const { stage, port, round, sealer, verified, keyFile } = scene;
  const told: string[] = [];
  await createBackup(scene);
  const refuse = async () => Promise.reject(new Error('killed'));
  for (let turn = 0; turn < 10; turn += 1) {
    stage.clock.at += MINUTE * (random() < 0.1 ? 1500 : 1);
    const at = random();
    const name = `turn ${turn}`;
    if (at < 0.06) await renewKey(sealer, keyFile);
    else if (at < 0.1) await sealForExport(sealer, null);
    else if (at < 0.16) {
      const read = await beginRead(stage, 'inventory', { trigger: 'schedule' });
      await read.abandon({ code: 'http', message: 'the registry answered 503' }, TRAFFIC);
    } else if (at < 0.22) await stage.read('inventory', [], { trigger: 'schedule' });
    else if (at < 0.4)
      await stage.read('retirements', [
        retirement(name, { beneficiary: name, amount: amount(String(turn)) }),
        ...(random() < 0.5 ? [retirement('r-00000', { comment: name })] : []),
      ]);
    else if (at < 0.52) await stage.read('inventory', random() < 0.5 ? [] : [credit(name)]);
    else if (at < 0.7) {
      const work = pick<keyof EvidencePort>(
        random,
        ['appendLeaves', 'storeCheckpoint', 'listNumberedInputs', 'listLeaves', 'findCheckpoint'],
        'storeCheckpoint',
      );
      await round({ port: { ...port, [work]: refuse } }).catch(() => undefined);
      stage.clock.at += 3 * MINUTE;
    } else if (at < 0.72) await createBackup(scene);
    else if (at < 0.76) await continueAfterRestore(sealer);
    else if (at < 0.82) {
      await restoreBackup(scene);
      await continueAfterRestore(sealer, readReplacedKeys(keyFile));
    } else if (at < 0.92) {
      const alone = 'version NOT IN (SELECT closed_version FROM past)';
      const numbers = await stage.db.column<number>(`SELECT version FROM retirements WHERE ${alone} LIMIT 1`);
      const gone = () => stage.db.change('DELETE FROM retirements WHERE version = ?', numbers[0] ?? null);
      await eraseLeaves(sealer, 'forget', async () => ({ kind: 'change', numbers }), gone);
    } else {
      const what = async () => ({ organizationId: 'organization-1' });
      await eraseLeaves(sealer, 'purge', what, async () => {
        for (const table of ['retirements', 'inventory_credits', 'installations', 'past', 'syncs'])
          await stage.db.change(`DELETE FROM ${table} WHERE organization_id = 'organization-1'`);
        await stage.db.change("DELETE FROM organizations WHERE id = 'organization-1'");
      });
      break;
    }
    if (random() < 0.5) await round();
    const { faults } = await verified();
    told.push(...faults.map(({ where, fault }) => `${name} (${at}), ${where}: ${fault}`));
  }
  await round();
  await removeBackup(scene);
  return [...told, ...(await verified()).faults.map(({ where, fault }) => `${where}: ${fault}`)];
}

describe.each(ENGINES)('$name', engine => {
  engineIndependent.test.each([
    ['a retirement', 'old'],
    ['an organization', 'organization-1'],
    ['a period', '2025'],
    ['a period of several organizations', '2026'],
  ])('T93 a forged folder of %s is refused, or still says what was sealed', async (_scope, what) => {
    const { write, hex, olderCheckpoint } = await openForgeableLog(engine);
    const { folder } = await write(what);
    const content = readContent(folder);
    const honest = await checkContent(content, hex, olderCheckpoint);
    expect(honest).toMatchObject({ verdict: 'verified' });
    let [forged, verified] = [0, 0];
    for (const seed of listSeeds('FORGED_FOLDERS', 100)) {
      const forgery = forgeFolder({ content, olderCheckpoint }, createRandom(seed));
      if (forgery === null) continue;
      forged += 1;
      const checked = await checkContent(forgery.content, hex, olderCheckpoint);
      expect(checked.verdict, forgery.description).not.toBe('could not be checked');
      if (checked.verdict !== 'verified') continue;
      verified += 1;
      expectTrueFacts(listFacts(checked), listFacts(honest), `seed ${seed}: ${forgery.description}`);
    }
    expect(forged).toBeGreaterThan(50);
    if (process.env['FORGED_FOLDERS'] !== undefined)
      process.stdout.write(`${what}: ${forged} forged, ${verified} verified with the same facts\n`);
  });

  engineIndependent.test('T93 no random change of a file is verified', async () => {
    const { write, hex, olderCheckpoint } = await openForgeableLog(engine);
    const contents = [];
    for (const what of ['old', 'organization-1', '2025', '2026'])
      contents.push(readContent((await write(what)).folder));
    let changed = 0;
    for (const seed of listSeeds('MUTATIONS', 200)) {
      const random = createRandom(seed);
      const content = pick(random, contents, new Map());
      const { what, mutated } = mutate(content, random);
      if (
        [...content].every(([name, bytes]) => Buffer.compare(bytes, mutated.get(name) ?? Buffer.of()) === 0)
      )
        continue;
      changed += 1;
      const { verdict } = await checkContent(mutated, hex, olderCheckpoint);
      expect(verdict, `seed ${seed}: ${what}`).toBe('not verified');
    }
    if (process.env['MUTATIONS'] !== undefined) process.stdout.write(`${changed} changes, none verified\n`);
  });

  engineIndependent.test(
    'T91 data that no held checkpoint covers is never called proven, and a log recreated with the key is found',
    async () => {
      for (const seed of listSeeds('UNCOVERED', 2)) {
        const { stage, forge, change, lastSigned, keyFile, hex, older, write } =
          await openExportableLog(engine);
        const covered = Number(readFileSync(older, 'utf8').split('\n')[1]);
        const isWhole = seed % 2 === 0;
        await stage.db.change("UPDATE retirements SET beneficiary = ? WHERE id = 'old'", `Nobody ${seed}`);
        if (isWhole) rmSync(`${keyFile}.last-signed`);
        await forge('DELETE FROM CHECKPOINTS WHERE size > ?', isWhole ? 0 : covered);
        await forge('DELETE FROM LEAVES WHERE place >= ?', isWhole ? 0 : covered);
        if (!isWhole) lastSigned.write(parseSignedTreeHead(readFileSync(older, 'utf8')));
        await change();
        const { folder } = await write('organization-1');
        const { verdict } = await checkFolder(folder, hex, older);
        if (isWhole) expect(verdict).toBe('not verified');
        const led = await write('organization-1', '--since', older);
        if (isWhole) expect(led.stderr).toContain('does not continue from the older checkpoint');
        else
          expect((await checkFolder(led.folder, hex, older)).output).toContain(
            'Only the signature says when later rows were sealed.',
          );
      }
    },
  );

  test.each(listSeeds('HONEST', 3))(
    'T94 T95 a history without forgery has no faults (seed %i)',
    async seed => {
      expect(await playHistoryWithoutForgery(engine, createRandom(seed))).toEqual([]);
    },
  );
});
