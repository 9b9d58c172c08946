import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signedHeadOf } from '../../src/evidence/checkpoint.js';
import { beginOrigin } from '../../src/evidence/restore.js';
import { erase } from '../../src/evidence/write.js';
import type { EvidencePort } from '../../src/evidence/port.js';
import { type TestEngine, ENGINES, MINUTE } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';
import { alterFile, runCheckScript, openExportableLog } from '../support/exported-evidence.js';
import { createRandom, pick } from '../support/random.js';
import { readLeaves, openSealedMirror } from '../support/sealed-mirror.js';
import { engineIndependent } from '../support/long.js';

/** The first seed. `npm run torture -- forgery` sets it and the number of seeds. */
const FIRST = Number(process.env['FORGERY_SEED'] ?? 1);
const listSeeds = (name: string, few: number) =>
  Array.from({ length: Number(process.env[name] ?? few) }, (_, at) => FIRST + at);
const DOES_NOT_FIT = 1;
const YEAR = '2025-03-04T05:06:07.089Z';

type Log = Awaited<ReturnType<typeof openExportableLog>>;
type Random = () => number;

interface Forged {
  readonly what: string;
  readonly undo: () => Promise<void>;
  /** The text that names the forgery in the output of `verify`. */
  readonly named: RegExp;
}

const CELLS: Readonly<Record<string, readonly (readonly [string, string | number])[]>> = {
  retirements: [
    ['beneficiary', 'Nobody'],
    ['amount_exact', '77'],
    ['amount_micro', 77],
    ['created_at', YEAR],
    ['valid_from', YEAR],
    ['document', '{"id":"b"}'],
    ['sync_id', 4711],
    ['is_claimed', 5],
    ['project_id', 'another'],
    ['organization_id', 'organization-2'],
  ],
  inventory_credits: [
    ['serialization', 'ICR-0'],
    ['amount', 0.5],
    ['valid_from', YEAR],
    ['document', '{}'],
    ['type', 'exAnte'],
  ],
  certificates: [
    ['sha256', '0'.repeat(64)],
    ['size', 1],
    ['fetched_at', YEAR],
    ['valid_from', YEAR],
  ],
  installations: [
    ['state', 'uninstalled'],
    ['created_at', YEAR],
  ],
  past: [
    ['valid_to', YEAR],
    ['valid_from', YEAR],
    ['closed_by', 4711],
    ['document', '{}'],
    ['cells', '{"beneficiary":"Nobody"}'],
  ],
  syncs: [
    ['started_at', YEAR],
    ['finished_at', YEAR],
    ['trigger', 'nobody'],
    ['rows_added', 4711],
  ],
};

const LEAF_CELLS = [
  ['commitment', Buffer.alloc(32)],
  ['salt', Buffer.alloc(32)],
  ['salt', null],
  ['record', '{}'],
  ['micro', '77'],
  ['observed', '2025-03'],
  ['dated', '2025-03'],
  ['ended', 1],
  ['subject', null],
  ['place', 4711],
  ['number', 4711],
] as const;

/** Forges the database in a random way: a cell, document or date, a row more or less, a sync, a leaf. */
async function forgeRows(log: Log, random: Random): Promise<Forged> {
  const { stage, forge, port } = log;
  const { db } = stage;
  const turn = random();
  if (turn < 0.1) {
    const [table, column] = pick(
      random,
      [
        ['retirements', 'valid_from'],
        ['syncs', 'started_at'],
      ] as const,
      ['retirements', 'valid_from'] as const,
    );
    const number = table === 'syncs' ? 'id' : 'version';
    const rows = await db.rows<{ n: number; at: string }>(
      `SELECT ${number} AS n, ${column} AS at FROM ${table}`,
    );
    await db.change(`UPDATE ${table} SET ${column} = ?`, YEAR);
    const undo = async () => {
      for (const { n, at } of rows)
        await db.change(`UPDATE ${table} SET ${column} = ? WHERE ${number} = ?`, at, n);
    };
    return { what: `${table} dated back`, undo, named: table === 'syncs' ? /^sync / : /^change / };
  }
  if (turn < 0.25) {
    const number = pick(random, await db.column<number>('SELECT version FROM retirements'), 0);
    const isMore = random() < 0.5;
    const away = isMore ? -number : 100_000 + number;
    await db.change('UPDATE retirements SET version = ? WHERE version = ?', away, number);
    const undo = () => db.change('UPDATE retirements SET version = ? WHERE version = ?', number, away);
    return {
      what: `change ${number} is ${away}`,
      undo,
      named: new RegExp(`^change ${isMore ? away : number}:`),
    };
  }
  if (turn < 0.45) {
    const { size } = await port.ends();
    const place = Math.floor(random() * size);
    const [leaf] = await readLeaves(port, place, place + 1);
    const forged = LEAF_CELLS.filter(([name, value]) => leaf?.[name] !== value);
    const [column, value] = pick(random, forged, LEAF_CELLS[0]);
    await forge(`UPDATE LEAVES SET ${column} = ? WHERE place = ?`, value, place);
    const now = column === 'place' ? value : place;
    const undo = () => forge(`UPDATE LEAVES SET ${column} = ? WHERE place = ?`, leaf?.[column] ?? null, now);
    return {
      what: `${column} of leaf ${place}, a ${leaf?.kind}`,
      undo,
      named: new RegExp(`^(?:checkpoint of|${leaf?.kind} (?:${leaf?.number}|4711):|\\d+ leaves|leaves from)`),
    };
  }
  const table = pick(random, Object.keys(CELLS), 'retirements');
  const [column, value] = pick(random, CELLS[table] ?? [], ['', '']);
  const number = { syncs: 'id', past: 'closed_version' }[table] ?? 'version';
  const only = table === 'certificates' ? " WHERE state = 'stored'" : '';
  const known = pick(random, await db.column<number>(`SELECT ${number} FROM ${table}${only}`), 0);
  const was = await db.value<string | number>(`SELECT ${column} FROM ${table} WHERE ${number} = ?`, known);
  const old = typeof was === 'object' && was !== null ? JSON.stringify(was) : (was ?? null);
  await db.change(`UPDATE ${table} SET ${column} = ? WHERE ${number} = ?`, value, known);
  const undo = () => db.change(`UPDATE ${table} SET ${column} = ? WHERE ${number} = ?`, old, known);
  const named =
    table === 'past' ? /^change \d+:/ : new RegExp(`^${table === 'syncs' ? 'sync' : 'change'} ${known}:`);
  return { what: `${column} of ${number} ${known} in ${table}`, undo, named };
}

/** Forges an exported folder in a random way: a byte, line or file is added, removed or moved. */
function forgeFolder(folder: string, random: Random): string {
  const held = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file =>
    /^(?:rows|context|nodes|organizations|checkpoint)\.txt$|^(?:documents|certificates|months)\/./.test(file),
  );
  const file = pick(random, held, 'rows.txt');
  const path = join(folder, file);
  const turn = random();
  if (turn < 0.1) {
    rmSync(path);
    return `${file} is gone`;
  }
  if (turn < 0.3) {
    const lines = readFileSync(join(folder, 'rows.txt'), 'utf8').split('\n');
    const line = `${pick(random, lines.slice(0, -1), '')}\n`;
    alterFile(folder, 'rows.txt', text => text.replace(line, ''));
    if (turn < 0.2) alterFile(folder, 'context.txt', text => text + line);
    return `a row is ${turn < 0.2 ? 'called something else' : 'left out'}`;
  }
  const bytes = readFileSync(path);
  const end = file === 'checkpoint.txt' ? bytes.indexOf('\n\n') : bytes.length - 1;
  const at = Math.floor(random() * end);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 7));
  writeFileSync(path, bytes);
  return `byte ${at} of ${file}`;
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

/** Plays a random history with killed sealers, restored backups, forgotten people and purged organizations. */
async function playHistoryWithoutForgery(engine: TestEngine, random: Random): Promise<string[]> {
  const scene = await openSealedMirror(engine);
  const { stage, port, round, sealer, verified } = scene;
  const told: string[] = [];
  await createBackup(scene);
  const refuse = async () => Promise.reject(new Error('killed'));
  for (let turn = 0; turn < 8; turn += 1) {
    stage.clock.at += MINUTE;
    const at = random();
    const name = `turn ${turn}`;
    if (at < 0.35)
      await stage.read('retirements', [
        retirement(name, { beneficiary: name, amount: amount(String(turn)) }),
        ...(random() < 0.5 ? [retirement('r-00000', { comment: name })] : []),
      ]);
    else if (at < 0.5) await stage.read('inventory', random() < 0.5 ? [] : [credit(name)]);
    else if (at < 0.7) {
      const work = pick<keyof EvidencePort>(
        random,
        ['append', 'keep', 'facts', 'leaves', 'checkpoint'],
        'keep',
      );
      await round({ port: { ...port, [work]: refuse } }).catch(() => undefined);
      stage.clock.at += 3 * MINUTE;
    } else if (at < 0.72) await createBackup(scene);
    else if (at < 0.76) await beginOrigin(sealer);
    else if (at < 0.82) {
      await restoreBackup(scene);
      await beginOrigin(sealer);
    } else if (at < 0.9) {
      const alone = 'version NOT IN (SELECT closed_version FROM past)';
      const numbers = await stage.db.column<number>(`SELECT version FROM retirements WHERE ${alone} LIMIT 1`);
      const gone = () => stage.db.change('DELETE FROM retirements WHERE version = ?', numbers[0] ?? null);
      await erase(sealer, 'forget', async () => ({ kind: 'change', numbers }), gone);
    } else {
      const what = async () => ({ organizationId: 'organization-1' });
      await erase(sealer, 'purge', what, async () => {
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
  engineIndependent.test(
    'T90 T93 verify and check.sh find and name every random forgery of data that a held checkpoint covers',
    async () => {
      const log = await openExportableLog(engine);
      const { folder } = await log.write('organization-1', '--since', log.older);
      expect((await log.verified()).faults).toEqual([]);
      expect(runCheckScript(folder, log.hex, log.older).status).toBe(0);
      const kept = `${folder}-kept`;
      cpSync(folder, kept, { recursive: true });
      for (const seed of listSeeds('FORGERIES', 20)) {
        const random = createRandom(seed);
        if (random() < 0.7) {
          const { what, undo, named } = await forgeRows(log, random);
          const { faults } = await log.verified();
          const lines = faults.map(({ where, fault }) => `${where}: ${fault}`);
          expect(lines, `seed ${seed}: ${what}`).toContainEqual(expect.stringMatching(named));
          await undo();
          expect((await log.verified()).faults, `seed ${seed}: ${what}, undone`).toEqual([]);
          continue;
        }
        const what = forgeFolder(folder, random);
        const { status, output } = runCheckScript(folder, log.hex, log.older);
        expect([DOES_NOT_FIT, 2], `seed ${seed}: ${what}: ${output}`).toContain(status);
        expect(output, `seed ${seed}: ${what}`).toMatch(/DOES NOT MATCH: |not an evidence folder/);
        rmSync(folder, { recursive: true });
        cpSync(kept, folder, { recursive: true });
      }
    },
  );

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
        if (!isWhole) lastSigned.write(signedHeadOf(readFileSync(older, 'utf8')));
        await change();
        const { folder } = await write('organization-1');
        const { status, output } = runCheckScript(folder, hex, older);
        expect(output, `seed ${seed}`).not.toMatch(/\bvalid|\bproven|genuine|authentic/);
        if (isWhole) expect({ status, output }).toMatchObject({ status: DOES_NOT_FIT });
        const led = await write('organization-1', '--since', older);
        if (isWhole) expect(led.stderr).toContain('does not go on from the older checkpoint');
        else
          expect(runCheckScript(led.folder, hex, older).output).toContain(
            'the time of later rows is known only from the signature',
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
