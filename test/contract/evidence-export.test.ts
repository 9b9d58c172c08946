import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readKeyFile } from '../../src/evidence/key-file.js';
import { createSigningKey, formatVerifierKey } from '../../src/evidence/signing-key.js';
import { openNote } from '../../src/evidence/signed-note.js';
import { createLeafInput } from '../../src/evidence/port.js';
import { readSigners } from '../../src/evidence/renew-key.js';
import { appendLeaf } from '../../src/evidence/log-writer.js';
import { verifyLogAgainstMirror } from '../../src/evidence/verify-log.js';
import { EXIT } from '../../src/cli/exit.js';
import { runCommand } from '../support/command.js';
import { checkFolder, listPaths } from '../support/evidence-folder.js';
import { temporaryFolder } from '../support/inbox.js';
import { ENGINES, MINUTE } from '../support/mirror/open.js';
import { amount, retirement } from '../support/mirror/rows.js';
import { installOrganization, openExportableLog, RETIREMENTS } from '../support/exported-evidence.js';
import { readLeaves } from '../support/sealed-mirror.js';

const VERIFIED = { verdict: 'verified', faults: [] };
const readFileText = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8');

function writeSparseFile(file: string): void {
  writeFileSync(file, '');
  truncateSync(file, 2 ** 31);
}

describe.each(ENGINES)('$name', engine => {
  /** Tests that read only the folder run with one engine. */
  const isTried = engine.name === 'SQLite';

  test('T93 exports of a period, an organization and a retirement are verified, and state totals, reads and what an older checkpoint covered', async () => {
    const { write, hex, older } = await openExportableLog(engine);
    const period = await write('2025', '--since', older);
    expect(period).toMatchObject({ exitCode: EXIT.ok });
    const checked = await checkFolder(period.folder, hex, older);
    expect(checked).toMatchObject(VERIFIED);
    expect(checked.output).toContain(
      'Retirements, dated in 2025 by the registry: 3 rows, 25 t, 1 without a usable amount; none is missing.',
    );
    expect(checked.output).toContain('Retirements, first observed in 2025: 0 rows, 0 t, ');
    expect(checked.output).toContain('3 rows were in the log when your older checkpoint was signed');
    expect(checked.output).toContain(`Signed by the key ${hex} of mirror.example/log.`);
    expect(checked.output).toContain('2 of the 2 reads that observed the rows are shown.');
    expect(checked.output).toContain('1 of 3 retirements has its certificate here.');
    expect(checked.output).toMatch(
      /^Retirements of organization-1: last sealed complete read 2026-05-04T12:02:00.000Z, 0 failed reads since\.$/m,
    );
    expect(checked.output).toMatch(/^Note well: Reads failed since the last complete one: Certificates of /m);
    expect(checked.output.trimEnd().split('\n').at(-1)).toBe('Verdict: verified');

    const whole = await write('organization-1', '--since', older);
    const all = await checkFolder(whole.folder, hex, older);
    expect(all).toMatchObject(VERIFIED);
    expect(all.evidence?.rows.length).toBe(8);
    expect(all.output).toContain('Retirements, first observed: 4 rows, 37.5 t');
    expect(all.output).toContain('Credits in the inventory, first observed: 2 rows; none is missing.');
    expect(all.output).toContain('At your older checkpoint: retirements first observed, 4 rows, 32 t.');
    expect(all.output).toContain('1 row was replaced since and 1 row was removed.');
    expect(all.output).toMatch(
      /^Note well: Retirements whose date or amount changed since your older checkpoint: retirements old \(7 t, .*, now 12\.5 t, /m,
    );

    expect(all.output).toMatch(
      /^Note well: Retirements with other changes since your older checkpoint: retirements old \(Beneficiary "Harbour Ferries", now "Another"\)\.$/m,
    );

    const one = await write('old', '--since', older);
    const single = await checkFolder(one.folder, hex, older);
    expect(single).toMatchObject(VERIFIED);
    expect(single.output).toContain(
      'Retirement old: 12.5 t, Peat bog 2021, for Another, dated 2026-03-01T10:00:00.000Z, no certificate here.',
    );
    expect(single.evidence?.otherVersions.map(({ leaf }) => leaf.record.get('beneficiary'))).toEqual([
      'Harbour Ferries',
    ]);
  });

  test('T93 no rows are given out without a key, and a check without an older checkpoint says what it does not prove', async ({
    skip,
  }) => {
    skip(!isTried);
    const { write, hex, key, older } = await openExportableLog(engine);
    const { folder, stderr } = await write('b');
    expect(stderr).toContain('Wrote 1 retirement, 1 other row and 1 certificate as of');
    expect(stderr).toContain('of at most 256.0 MiB that a checker reads');
    expect(stderr).toContain('10. Not proven:');
    const nobody = await checkFolder(folder);
    expect(nobody).toMatchObject({ verdict: 'not verified', evidence: null });
    expect(nobody.output).toContain('no key was given');
    const alone = await checkFolder(folder, formatVerifierKey(key));
    expect(alone).toMatchObject(VERIFIED);
    const [pdf = ''] = listPaths(folder).filter(path => path.endsWith('.pdf'));
    expect(alone.output).toContain(`certificate with SHA-256 ${pdf.replace(/.*\/(\w+)\.pdf/, '$1')}.`);
    expect(alone.output).toContain('whoever has the key can have written all of this today');
    for (const wrong of [
      'A1'.repeat(32),
      `${key.name}+00000000+${formatVerifierKey(key).split('+').slice(2).join('+')}`,
    ])
      expect((await checkFolder(folder, wrong)).output).toContain('the given key is neither 64');
    for (const wrong of ['a1'.repeat(32), formatVerifierKey({ ...key, name: 'another' })])
      expect((await checkFolder(folder, wrong)).output).toContain('not signed by the given key');
    expect((await checkFolder(folder, hex, older)).output).toContain(
      'ask for an export with --since and that checkpoint',
    );
  });

  test('T93 rows with strange but honest content are verified', async () => {
    const { write, hex, older, stage, round } = await openExportableLog(engine);
    const texts = [
      '\u2028 \u2029',
      '\u202egnorw',
      '\u0000\u001b[2J',
      '\ufeff',
      'a\u0301\u{1f333}',
      '\\u0041 "\\',
    ];
    const documents = [
      '{"comment":"\\ud800 \\udfff","amount":1e400}',
      '{}',
      '\u2028',
      '[123456789012345678901234567890]',
    ];
    const amounts = ['9007199254740.993001', '9000000000000.0000001', '-12.5', '0', '0.0000001'];
    const odd = [
      ...texts.map(text => ({ comment: text, beneficiary: text })),
      ...documents.map(document => ({ document })),
      ...amounts.map(exact => ({ amount: amount(exact) })),
      { createdAt: null, beneficiary: null, vintage: null, serialization: null },
    ].map((fields, index) =>
      retirement(`odd-${index}`, { createdAt: '2025-01-01T00:00:00.000Z', ...fields }),
    );
    await stage.read('retirements', [...RETIREMENTS, ...odd]);
    await stage.read('reservations', []);
    await round();
    for (const what of ['organization-1', '2025', 'odd-0']) {
      const { folder, stderr } = await write(what, '--since', older);
      const checked = await checkFolder(folder, hex, older);
      expect(checked, stderr).toMatchObject(VERIFIED);
      // oxlint-disable-next-line no-control-regex
      expect(checked.output).not.toMatch(/[\u0000\u001b\u2028\u202e\ufeff]/);
    }
  });

  test('T97 an export counts the known organizations that it leaves out, and names them only on request', async () => {
    const { write, hex, stage, round, older } = await openExportableLog(engine);
    await installOrganization(stage, 'organization-2');
    await round();
    const without = await checkFolder((await write('organization-1')).folder, hex);
    expect(without).toMatchObject(VERIFIED);
    expect(without.evidence?.otherOrganizations).toBe(1);
    expect(without.output).toContain('1 known organization is not in this folder.');
    expect(without.output).not.toContain('organization-2');
    const since = await checkFolder((await write('organization-2', '--since', older)).folder, hex, older);
    expect(since).toMatchObject(VERIFIED);
    expect(since.output).toContain(
      'At your older checkpoint this organization had no sealed rows, or they were left',
    );
    const named = await checkFolder((await write('organization-1', '--name-others')).folder, hex);
    expect(named).toMatchObject(VERIFIED);
    expect(named.evidence?.organizations.map(({ organization }) => organization)).toContain('organization-2');
  });

  test('T93 rows that were removed or erased since an older checkpoint are named or counted', async () => {
    const { write, hex, older, stage, round, command } = await openExportableLog(engine);
    const remaining = [retirement('old', { beneficiary: 'Another' }), ...RETIREMENTS.slice(1, -1)];
    for (let read = 0; read < 2; read += 1) {
      stage.clock.at += MINUTE;
      await stage.read('retirements', remaining);
    }
    await round();
    const removed = await checkFolder((await write('organization-1', '--since', older)).folder, hex, older);
    expect(removed).toMatchObject(VERIFIED);
    expect(removed.output).toMatch(/that were removed since: .*retirements c \(12\.5 t, dated 2025-06-01/);
    const purge = ['purge', '--organization', 'organization-1', '--confirm', 'organization-1', '--force'];
    await installOrganization(stage, 'organization-2');
    await round();
    expect(await command(...purge)).toMatchObject({ exitCode: EXIT.ok });
    await round();
    const erased = await checkFolder((await write('2026', '--since', older)).folder, hex, older);
    expect(erased).toMatchObject(VERIFIED);
    expect(erased.output).toMatch(
      /leaves were erased since your older checkpoint, so its counts cannot be compared/,
    );
    expect(erased.output).toContain('the log does not say whose they were.');
    expect(erased.output).not.toMatch(/^Of .* rows of the scope at that checkpoint/m);
  });

  test('T93 rows that were observed before an older checkpoint and sealed after it are named', async () => {
    const { write, hex, stage, round, older } = await openExportableLog(engine);
    const at = stage.clock.at;
    stage.clock.at = Date.parse(readFileText(older, '').split('\n')[3] ?? '') - 1000;
    await installOrganization(stage, 'organization-3');
    stage.clock.at = at + MINUTE;
    await round();
    const { evidence, output } = await checkFolder(
      (await write('2026', '--since', older)).folder,
      hex,
      older,
    );
    expect(output).toContain('Verdict: verified');
    expect(output).toMatch(
      /observed before your older checkpoint was signed, and .* sealed after it: .*retirements of-organization-3/,
    );
    expect(evidence?.older?.sealedLate.length).toBeGreaterThan(0);
  });

  test('an export as of a checkpoint contains nothing that was observed later', async () => {
    const { write, hex, stage, older } = await openExportableLog(engine);
    const then = readFileText(older, '').split('\n')[3] ?? '';
    const { folder } = await write('organization-1', '--as-of', then, '--since', older);
    expect(await checkFolder(folder, hex, older)).toMatchObject(VERIFIED);
    expect(readFileText(folder, 'checkpoint.txt')).toBe(readFileText(older, ''));
    expect(readFileText(folder, 'evidence.jsonl')).toContain('"credit_id":"c-2"');
    const early = await write('2025', '--as-of', new Date(stage.clock.at - 1e9).toISOString());
    expect(early).toMatchObject({ exitCode: EXIT.checkFailed });
    expect(early.stderr).toContain('nothing was sealed by then');
  });

  test('T93 an export without sealed rows is refused and leaves no folder, and the beginning of an id names a retirement', async () => {
    const { env, stage, write } = await openExportableLog(engine);
    await stage.read('retirements', [retirement('0f0f0f0f-1111-4111-8111-111111111111')]);
    const folder = join(temporaryFolder(), 'folder');
    const keyless = { env: { ...env, REGISTRY_APP_ID: 'a' }, now: () => stage.clock.at };
    const { exitCode, stderr } = await runCommand(['evidence', 'export', '0f0f0f0f', folder], keyless);
    expect({ exitCode, isThere: existsSync(folder) }).toEqual({ exitCode: EXIT.checkFailed, isThere: false });
    expect(stderr).toContain('no row of retirement 0f0f0f0f-1111-4111-8111-111111111111 is sealed');
    expect(await write('0f0f0f0f')).toMatchObject({ exitCode: EXIT.ok });
    const none = await write('1999-12');
    expect(none).toMatchObject({ exitCode: EXIT.checkFailed });
    expect(none.stderr).toMatch(/no row of period 1999-12 is sealed yet\.\n.* never sealed\./);
    expect(existsSync(none.folder)).toBe(false);
    const early = await write('2025', '--as-of', '2020-01-01');
    expect(early.stderr).toContain('nothing was sealed by then');
    expect(existsSync(early.folder)).toBe(false);
  });

  test('T95 an export as of a checkpoint is refused if its rows were erased since, and the message says so', async () => {
    const { write, command, older, stage, round } = await openExportableLog(engine);
    const then = readFileText(older, '').split('\n')[3] ?? '';
    const purge = ['purge', '--organization', 'organization-1', '--confirm', 'organization-1', '--force'];
    expect(await command(...purge)).toMatchObject({ exitCode: EXIT.ok });
    stage.clock.at += 60_000;
    await round();
    const erased = await write('2025', '--as-of', then);
    expect(erased).toMatchObject({ exitCode: EXIT.checkFailed });
    expect(erased.stderr).toContain('rows were erased by a purge after the checkpoint of');
    expect((await write('2025')).stderr).toContain('no row of period 2025 is sealed yet');
  });

  test('a folder contains no script and no page, and only files of its format', async () => {
    const { write, older, hex } = await openExportableLog(engine);
    const { folder } = await write('organization-1', '--since', older);
    expect(listPaths(folder).toSorted()).toEqual([
      'README.txt',
      expect.stringMatching(/^certificates\/[0-9a-f]{64}\.pdf$/),
      'checkpoint.txt',
      'evidence.jsonl',
      'older.txt',
    ]);
    expect(readFileText(folder, 'older.txt')).toBe(readFileText(older, ''));
    writeFileSync(join(folder, 'check.html'), '<h1>Verified</h1>');
    mkdirSync(join(folder, 'timestamps'));
    writeFileSync(join(folder, 'timestamps/29.tst'), '');
    const { verdict, uncheckedFiles, output } = await checkFolder(folder, hex, older);
    expect(output).toMatch(
      /^Timestamp not checked\. .*: openssl ts -verify .* -in timestamps\/29\.tst -token_in /m,
    );
    expect({ verdict, uncheckedFiles }).toEqual({
      verdict: 'verified',
      uncheckedFiles: ['README.txt', 'check.html', 'older.txt', 'timestamps/29.tst'],
    });
  });

  test('T92 a renewed key is trusted because the previous key signed it, and an unknown key is not', async ({
    skip,
  }) => {
    skip(!isTried);
    const { write, command, change, hex, older, keyFile, lastSigned, port, sealer } =
      await openExportableLog(engine);
    const renewed = await command('evidence', 'renew');
    expect(renewed).toMatchObject({ exitCode: EXIT.ok });
    const [newHex = ''] = renewed.stdout.split('\n');
    const next = readKeyFile(keyFile);
    expect(next.publicKey.toString('hex')).toBe(newHex);
    await change();
    expect((await verifyLogAgainstMirror({ port, key: next, lastSigned })).faults).toEqual([]);
    const { folder } = await write('organization-1', '--since', older);
    for (const each of [hex, newHex]) expect(await checkFolder(folder, each, older)).toMatchObject(VERIFIED);
    expect((await checkFolder(folder, hex)).output).toContain(`The key ${hex} was replaced by ${newHex}`);
    expect((await checkFolder(folder, 'a1'.repeat(32))).output).toContain('not signed by the given key');
    const told = await port.listLeaves({ logEventsBefore: Number.MAX_SAFE_INTEGER });
    const place = told.find(({ kind }) => kind === 'key')?.place ?? 0;
    const { note = '' } = (await port.findCheckpoint(place)) ?? {};
    expect(openNote(note, next)).toBeNull();
    const other = createSigningKey(next.name, randomBytes(32));
    const { faults } = await verifyLogAgainstMirror({ port, key: other, lastSigned });
    expect(new Set(faults.map(({ fault }) => fault))).toEqual(
      new Set([
        'it is not signed by the key of that time',
        'their authentication codes were made with another key',
      ]),
    );

    const { size } = await port.readProgress();
    const [at, signature] = ['2026-01-01T00:00:00.000Z', Buffer.alloc(64).toString('base64')];
    for (const old of [other.publicKey.toString('hex'), 'a1'])
      await appendLeaf(sealer, createLeafInput('key', { old, new: newHex, at, signature }));
    expect((await readSigners(port, next))(size).publicKey).toEqual(next.publicKey);
    await change();
    const led = await write('organization-1', '--since', older);
    const checked = await checkFolder(led.folder, newHex, older);
    expect(checked).toMatchObject(VERIFIED);
    expect(checked.output).toMatch(/names a new key without a signature of the old one\. It was ignored\./);
  });

  test('T93 the checker and verify --evidence refuse a pipe, a link and an endless file in place of any file', async ({
    skip,
  }) => {
    skip(!isTried);
    const { write, command, hex } = await openExportableLog(engine);
    const { folder } = await write('2025');
    const replacements: readonly (readonly [string, (path: string) => void])[] = [
      ['is a link, a pipe or a device', path => execFileSync('mkfifo', [path])],
      ['is a link, a pipe or a device', path => symlinkSync('/dev/zero', path)],
      ['is a link, a pipe or a device', path => symlinkSync(join(folder, 'README.txt'), path)],
      ['has more than', writeSparseFile],
    ];
    const [pdf = ''] = listPaths(folder).filter(path => path.endsWith('.pdf'));
    for (const file of ['evidence.jsonl', 'checkpoint.txt', pdf]) {
      const path = join(folder, file);
      const bytes = readFileSync(path);
      for (const [fault, replace] of replacements) {
        rmSync(path);
        replace(path);
        const { verdict, output } = await checkFolder(folder, hex);
        expect(verdict, output).toBe('not verified');
        expect(output).toContain(`${file} ${fault}`);
        const verified = await command('verify', '--evidence', folder, '--key', hex);
        expect(verified).toMatchObject({ exitCode: EXIT.checkFailed, stdout: output });
        rmSync(path);
        writeFileSync(path, bytes);
      }
    }
    expect(await checkFolder(folder, hex)).toMatchObject(VERIFIED);
  });

  test('T93 verify --evidence prints the report of the checker, ends with the verdict, and exits with its code', async ({
    skip,
  }) => {
    skip(!isTried);
    const { write, command, hex, older } = await openExportableLog(engine);
    const { folder } = await write('2025', '--since', older);
    const verify = (...words: string[]) => command('verify', '--evidence', folder, ...words);
    const { output } = await checkFolder(folder, hex, older);
    expect(await verify('--key', hex, '--since', older)).toMatchObject({
      exitCode: EXIT.ok,
      stdout: output,
      stderr: '',
    });
    for (const words of [[], ['--key', 'a1'.repeat(32)]])
      expect(await verify(...words)).toMatchObject({
        exitCode: EXIT.checkFailed,
        stdout: expect.stringMatching(/\nVerdict: not verified\n$/),
        stderr: '',
      });
    const plain = join(folder, '..', 'plain.txt');
    writeFileSync(plain, '');
    for (const none of [plain, join(folder, 'missing')])
      expect(await command('verify', '--evidence', none)).toMatchObject({ exitCode: EXIT.usage });
    expect((await command('verify', '--key', hex)).exitCode).toBe(EXIT.usage);
    mkdirSync(join(folder, 'page.html'));
    writeFileSync(join(folder, '.profile'), 'exit 7');
    expect((await verify('--key', hex)).stdout).toContain(
      'Not checked, do not rely on: .profile, README.txt',
    );
    writeFileSync(join(folder, 'certificates', 'a -out b'), '');
    expect((await verify('--key', hex)).stdout).toContain('certificates/a -out b is not named after a hash');
  });

  test('T94 a restored log continues under a new name that the old one leads to, and states what was lost', async ({
    skip,
  }) => {
    skip(!isTried);
    const { write, command, change, hex, older, forge, verified } = await openExportableLog(engine);
    const covered = Number(readFileText(older, '').split('\n')[1]);
    const newest = join(older, '..', 'newest.txt');
    writeFileSync(newest, (await command('evidence', 'checkpoint')).stdout);
    await forge('DELETE FROM LEAVES WHERE place >= ?', covered);
    await forge('DELETE FROM CHECKPOINTS WHERE size > ?', covered);
    const restored = await command('evidence', 'restored');
    expect(restored).toMatchObject({ exitCode: EXIT.ok });
    expect(restored.stderr).toMatch(/continues as mirror\.example\/log\/2026-.* signed leaves were lost/);
    await change();
    expect((await verified()).faults).toEqual([]);
    const { folder } = await write('organization-1', '--since', older);
    const led = await checkFolder(folder, hex, older);
    expect(led).toMatchObject(VERIFIED);
    expect(led.output).toMatch(/^The log begins with the \d+ leaves of your older checkpoint, /m);
    expect(led.output).toMatch(
      /A backup was restored at 2026-.*: \d+ signed leaves were lost, and the log continued as /,
    );
    const lost = await checkFolder(folder, hex, newest);
    expect(lost).toMatchObject({ verdict: 'not verified' });
    expect(lost.output).toMatch(
      /older checkpoint of \d+ leaves was lost when a backup was restored at 2026-/,
    );
  });

  test('T91 a log that the operator rewrote with the key does not continue an older checkpoint', async ({
    skip,
  }) => {
    skip(!isTried);
    const { write, hex, older } = await openExportableLog(engine);
    const { folder } = await write('2025');
    const forged = join(folder, '..', 'other.txt');
    writeFileSync(
      forged,
      readFileText(older, '').replace(/\n[A-Za-z0-9+/]{43}=\n/, `\n${Buffer.alloc(32).toString('base64')}\n`),
    );
    expect(await checkFolder(folder, hex, forged)).toMatchObject({ verdict: 'not verified' });
    const refused = await write('2025', '--since', forged);
    expect(refused).toMatchObject({ exitCode: EXIT.checkFailed });
    expect(refused.stderr).toContain('does not continue from the older checkpoint');
  });

  test('a mirror that was changed by hand is not exported, even after a purge of another organization', async () => {
    const { write, stage, older, sealer } = await openExportableLog(engine);
    await stage.db.change("UPDATE retirements SET beneficiary = 'Nobody' WHERE id = 'b'");
    await appendLeaf(sealer, createLeafInput('purge', { leaves: 0, at: '2026-01-01T00:00:00.000Z' }));
    const then = readFileText(older, '').split('\n')[3] ?? '';
    for (const words of [[], ['--as-of', then]]) {
      const outcome = await write('2025', ...words);
      expect(outcome).toMatchObject({ exitCode: EXIT.checkFailed });
      expect(outcome.stderr).toContain('is not as it was sealed');
      expect(existsSync(outcome.folder)).toBe(false);
    }
  });

  test('a log is not exported if any leaf was changed, even one outside of the export', async () => {
    const { write, port, forge } = await openExportableLog(engine);
    const leaves = await readLeaves(port);
    const ended = leaves.find(({ number }) => leaves.some(other => other.ended === number));
    await forge('UPDATE LEAVES SET commitment = ? WHERE place = ?', Buffer.alloc(32), ended?.place ?? null);
    const outcome = await write('organization-1');
    expect(outcome).toMatchObject({ exitCode: EXIT.checkFailed });
    expect(outcome.stderr).toContain('the log is not that of its checkpoint');
  });

  test('an export is refused if the file of one of its certificates was changed', async () => {
    const { write, stage } = await openExportableLog(engine);
    const [file = ''] = await stage.db.column<string>("SELECT file FROM certificates WHERE state = 'stored'");
    await stage.tampering.put(file, '%PDF of another', stage.clock.at);
    const outcome = await write('2025');
    expect(outcome).toMatchObject({ exitCode: EXIT.checkFailed });
    expect(outcome.stderr).toContain(`The certificate ${file} changed since it was downloaded`);
    expect(existsSync(outcome.folder)).toBe(false);
  });
});
