import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readKeyFile } from '../../src/evidence/key-file.js';
import { openNote, signingKey } from '../../src/evidence/note.js';
import { createObservation } from '../../src/evidence/port.js';
import { readSigners } from '../../src/evidence/renew.js';
import { appendOne } from '../../src/evidence/write.js';
import { verifyEvidence } from '../../src/evidence/verify.js';
import { EXIT } from '../../src/cli/exit.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';
import { retirement } from '../support/mirror/rows.js';
import { alterFile, runCheckScript, openExportableLog } from '../support/exported-evidence.js';
import { readLeaves } from '../support/sealed-mirror.js';
import { chooseLength } from '../support/long.js';

const FITS = 0;
const DOES_NOT_FIT = 1;
const NOTHING_TO_CHECK = 2;
const NO_KEY = 3;
const FOLDERS = ['months', 'documents', 'certificates'];

const readFileText = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8');
const removeLine = (line: number) => (text: string) =>
  text
    .split('\n')
    .filter((_, at) => at !== line)
    .join('\n');
const findFirstFile = (folder: string, inner: string) =>
  join(inner, readdirSync(join(folder, inner))[0] ?? '');

const sha256 = (...parts: readonly Uint8Array[]) =>
  createHash('sha256').update(Buffer.concat(parts)).digest();

function writeSparseFile(file: string): void {
  writeFileSync(file, '');
  truncateSync(file, 2 ** 31);
}

/** Hides a leaf as a forger would who knows the tree: its hash takes its place in the proof, so that the root stays the same. */
function hideLeaf(folder: string, file: string, part: string) {
  const [line = ''] = readFileText(folder, file)
    .split('\n')
    .filter(each => each.includes(part));
  const [place = '', salt = ''] = line.split(' ');
  const record = line.slice(place.length + salt.length + 2);
  const commitment = sha256(Buffer.from(salt, 'hex'), Buffer.from(record));
  const node = sha256(Buffer.of(0), commitment).toString('hex');
  alterFile(folder, file, text => text.replace(`${line}\n`, ''));
  alterFile(folder, 'nodes.txt', text => `${text}0 ${place} ${node}\n`);
  return { commitment, record };
}

function removeRow(
  folder: string,
  others: (commitment: string, record: string) => string,
  part = '"id":"c"',
): void {
  const { commitment, record } = hideLeaf(folder, 'rows.txt', part);
  rmSync(join(folder, 'documents', `${/"document_sha256":"(\w+)"/.exec(record)?.[1]}.json`));
  writeFileSync(join(folder, 'others.txt'), others(commitment.toString('hex'), record));
}

describe.each(ENGINES)('$name', engine => {
  /** Tests that read only the folder run with one engine. */
  const isTried = engine.name === 'SQLite';

  test('T93 exports of a period, an organization and a retirement fit, and state which lists are whole and what an older checkpoint covered', async () => {
    const { write, hex, older } = await openExportableLog(engine);
    const period = await write('2025', '--since', older);
    expect(period).toMatchObject({ exitCode: EXIT.ok });
    const checked = runCheckScript(period.folder, hex, older);
    expect(checked).toMatchObject({ status: FITS });
    expect(checked.output).toContain('retirements, dated by the registry: 3 of 3 sealed rows, none missing');
    expect(checked.output).toContain('3 of the rows were in the log when your older checkpoint was signed');
    expect(checked.output).toContain(`The checkpoint is signed by ${hex}.`);
    expect(checked.output).toMatch(/^These versions of the rows were observed from 2026\S+ to 2026\S+Z\.$/m);
    expect(checked.output).toMatch(/^This folder has 2 of the 2 syncs that observed them\.$/m);
    expect(checked.output).toMatch(/^1 of 3 retirements have a PDF here\. Omitted, or never created: /m);
    expect(checked.output).not.toMatch(/valid|proven/);

    const whole = await write('organization-1', '--since', older);
    const all = runCheckScript(whole.folder, hex, older);
    expect(all).toMatchObject({ status: FITS });
    expect(all.output).toContain('retirements, observed by the mirror: 4 of 4 sealed rows, none missing');
    expect(all.output).toContain('certificates, observed by the mirror: 1 of 1 sealed rows, none missing');
    expect(all.output).toContain('inventory, observed by the mirror: 2 of 2 sealed rows, none missing');
    expect(all.output).toMatch(
      /^retirements, observed by the mirror: .*; \d+\.\d{6} t, \d+ without a usable amount$/m,
    );
    expect(all.output).not.toMatch(/^(?!retirements,).* t, /m);
    expect(all.output).toMatch(/^6 of the rows were in the log/m);

    const one = await write('old', '--since', older);
    const single = runCheckScript(one.folder, hex, older);
    expect(single).toMatchObject({ status: FITS });
    expect(single.output).toContain(
      'retirements, observed by the mirror: 1 of 4 sealed rows, the others only as hashes',
    );
    expect(single.output).toContain(
      'Retirement old: 12.5 t, "Peat bog" 2021, for "Another", dated 2026-03-01T10:00:00.000Z, PDF missing.\n',
    );
    expect(readFileText(one.folder, 'context.txt')).toContain('"beneficiary":"Harbour Ferries"');
  });

  test('T93 a check without a key or an older checkpoint says what it then does not prove', async ({
    skip,
  }) => {
    skip(!isTried);
    const { write, hex, key, older } = await openExportableLog(engine);
    const { folder, stderr } = await write('b');
    expect(stderr).toContain('Wrote 1 retirement and 1 other row as of');
    const nobody = runCheckScript(folder);
    const pdf = findFirstFile(folder, 'certificates').replace(/.*\/(\w+)\.pdf/, '$1');
    expect(nobody.output).toMatch(new RegExp(`^Retirement b: .*, PDF sha256 ${pdf}\\.$`, 'm'));
    expect(nobody).toMatchObject({ status: NO_KEY });
    expect(nobody.output).toContain('you gave no KEY, so the signature was not checked');
    const alone = runCheckScript(
      folder,
      `${key.name}+00000000+${Buffer.concat([Buffer.of(1), key.publicKey]).toString('base64')}`,
    );
    expect(alone).toMatchObject({ status: FITS });
    expect(alone.output).toContain('whoever has the key can have created all of this today');
    expect(runCheckScript(folder, 'A1'.repeat(32))).toMatchObject({ status: NOTHING_TO_CHECK });
    expect(runCheckScript(folder, 'a1'.repeat(32)).output).toContain('not signed by the key that you gave');
    expect(runCheckScript(folder, hex, older).output).toContain(
      'ask for an export with --since and that checkpoint',
    );
  });

  test('an export as of a checkpoint contains nothing that was observed later', async () => {
    const { write, hex, stage, older } = await openExportableLog(engine);
    const then = readFileText(older, '').split('\n')[3] ?? '';
    const { folder } = await write('organization-1', '--as-of', then);
    expect(runCheckScript(folder, hex, older)).toMatchObject({ status: FITS });
    expect(readFileText(folder, 'checkpoint.txt')).toBe(readFileText(older, ''));
    expect(readFileText(folder, 'rows.txt')).toContain('"credit_id":"c-2"');
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

  test('T93 rows of another period do not fit, and a folder without rows proves nothing', async ({
    skip,
  }) => {
    skip(!isTried);
    const { write, hex } = await openExportableLog(engine);
    const { folder } = await write('2025');
    alterFile(folder, 'WHAT.txt', () => 'period 1999\n');
    const relabelled = runCheckScript(folder, hex);
    expect(relabelled.status, relabelled.output).toBe(DOES_NOT_FIT);
    expect(relabelled.output).toMatch(/DOES NOT MATCH: row \d+ belongs to no month of 1999/);
    while (readFileText(folder, 'rows.txt') !== '') removeRow(folder, () => '', '');
    const { status, output } = runCheckScript(folder, hex);
    expect(status, output).toBe(NOTHING_TO_CHECK);
    expect(output).toContain('This folder has no sealed row of this period, so it proves nothing.');
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

  test('a folder contains exactly the files of its checksum list, only paths made of hashes, and a page without a script', async () => {
    const { write } = await openExportableLog(engine);
    const { folder } = await write('organization-1');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1));
    for (const file of files)
      expect(file).toMatch(
        /^[a-zA-Z0-9]+\.[a-z]+$|^SHA256SUMS$|^documents\/[0-9a-f]{64}\.json$|^certificates\/[0-9a-f]{64}\.pdf$|^months\/\d+\.txt$/,
      );
    const sums = readFileText(folder, 'SHA256SUMS').trimEnd().split('\n');
    expect(sums.map(line => line.slice(66)).toSorted()).toEqual(
      files.filter(file => file !== 'SHA256SUMS').toSorted(),
    );
    for (const line of sums)
      expect(
        createHash('sha256')
          .update(readFileSync(join(folder, line.slice(66))))
          .digest('hex'),
      ).toBe(line.slice(0, 64));
    const page = readFileText(folder, 'page.html');
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toContain('<script');
    expect(page).toMatch(/Totals[^]*<td>retirements<td><td>4<td>[\d.,]+<\/tr>/);
    const readme = readFileText(folder, 'README.txt');
    expect(readme).toContain('(b) The operator, who has the key');
    const triggers = /"trigger" is [^.]*?(?=\n  ended_version)/.exec(readme)?.[0];
    for (const trigger of ['delivery', 'schedule', 'person', 'worker']) expect(triggers).toContain(trigger);
    expect(readme).toMatch(/rows that are older than the key/);
  });

  const FORGERIES: readonly [string, (folder: string) => void, string][] = [
    [
      'a byte of a record',
      folder => alterFile(folder, 'rows.txt', text => text.replace('Voluntary', 'voluntary')),
      'root hash of the checkpoint',
    ],
    [
      'a date',
      folder => alterFile(folder, 'rows.txt', text => text.replace('2025-05-01', '2024-05-01')),
      'root hash of the checkpoint',
    ],
    [
      'a salt',
      folder =>
        alterFile(folder, 'rows.txt', text =>
          text.replace(/ [0-9a-f]/, char => (char === ' 0' ? ' 1' : ' 0')),
        ),
      'root hash of the checkpoint',
    ],
    [
      'a row that is left out by who makes the tree fit',
      folder => removeRow(folder, () => ''),
      'retirements, dated by the registry in 2025-06: 0 of 1 rows, some are missing',
    ],
    [
      'a row that is called one of the others',
      folder =>
        removeRow(folder, (commitment, record) => {
          const place = findFirstFile(folder, 'months').replace(/\D/g, '');
          const number = /"version":(\d+)/.exec(record)?.[1];
          return `${place} retirements registry 2025-06 ${number} ${commitment}\n`;
        }),
      'retirements, dated by the registry in 2025-06: 0 of 1 rows, some are missing',
    ],
    [
      'a row that is left out',
      folder => alterFile(folder, 'rows.txt', removeLine(0)),
      'has a missing or an extra node',
    ],
    [
      'a row that is there twice',
      folder => alterFile(folder, 'rows.txt', text => text + text.slice(0, text.indexOf('\n') + 1)),
      'is a duplicate',
    ],
    [
      'a row that was made up',
      folder => alterFile(folder, 'rows.txt', text => `${text}1 ${'0'.repeat(64)} {"kind":"change"}\n`),
      'tree',
    ],
    [
      'a document',
      folder => alterFile(folder, findFirstFile(folder, 'documents'), text => `${text} `),
      'was changed',
    ],
    [
      'a document that is gone',
      folder => rmSync(join(folder, findFirstFile(folder, 'documents'))),
      'is missing, was changed, or belongs to no leaf',
    ],
    [
      'a document more',
      folder => writeFileSync(join(folder, 'documents', `${'0'.repeat(64)}.json`), ''),
      'belongs to no leaf',
    ],
    [
      'a certificate',
      folder => alterFile(folder, findFirstFile(folder, 'certificates'), text => text.replace('PDF', 'pdf')),
      'was changed',
    ],
    [
      'a sync',
      folder =>
        alterFile(folder, 'context.txt', text => text.replace(/"started_at":"2026/, '"started_at":"2025')),
      'root hash of the checkpoint',
    ],
    [
      'the size',
      folder => alterFile(folder, 'checkpoint.txt', text => text.replace(/\n\d+\n/, '\n7\n')),
      'checkpoint',
    ],
    [
      'the instant',
      folder => alterFile(folder, 'checkpoint.txt', text => text.replace('\n2026', '\n2025')),
      'not signed by the key',
    ],
    [
      'a node',
      folder =>
        alterFile(folder, 'nodes.txt', text =>
          text.replace(/[0-9a-f]\n/, char => (char === '0\n' ? '1\n' : '0\n')),
        ),
      'root hash of the checkpoint',
    ],
    [
      'the lists of an organization',
      folder =>
        alterFile(folder, findFirstFile(folder, 'months'), text =>
          text.replace('2025-05 2 1', '2025-05 1 0'),
        ),
      'does not match leaf',
    ],
    [
      'a node that is gone',
      folder => alterFile(folder, 'nodes.txt', removeLine(0)),
      'has a missing or an extra node',
    ],
    [
      'the organizations',
      folder => alterFile(folder, 'named.txt', text => `${text}1 ${'0'.repeat(64)} key\n`),
      'does not match the last leaf of the checkpoint',
    ],
    [
      'what was known of the organization, left out',
      folder => hideLeaf(folder, 'context.txt', '"kind":"coverage"'),
      'the coverage of organization organization-1 is missing',
    ],
    [
      'what was erased, left out',
      folder => hideLeaf(folder, 'context.txt', '"kind":"forget"'),
      'a leaf of kind forget is missing',
    ],
    [
      'what it is evidence of',
      folder => alterFile(folder, 'WHAT.txt', () => 'organization organization-2\n'),
      'is missing',
    ],
  ];

  test('T93 every forgery of a folder is found and named', async ({ skip }) => {
    skip(!isTried);
    const { write, hex, older, change, sealer } = await openExportableLog(engine);
    await appendOne(sealer, createObservation('forget', { leaves: 0, at: '2026-01-01T00:00:00.000Z' }));
    await change();
    const { folder } = await write('organization-1', '--since', older);
    const honest = runCheckScript(folder, hex, older);
    expect(honest.status, honest.output).toBe(FITS);
    expect(honest.output).toContain('Erased by forget at 2026-01-01T00:00:00.000Z: the records of 0 leaves.');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true }).filter(
      each => each.isFile(),
    );
    const kept = files
      .map(each => join(each.parentPath, each.name))
      .map(path => [path, readFileSync(path)] as const);
    for (const [what, forge, named] of FORGERIES.filter((_, place) => place % chooseLength(4, 1) === 0)) {
      forge(folder);
      const { status, output } = runCheckScript(folder, hex, older);
      expect(status, what).toBe(DOES_NOT_FIT);
      expect(output, what).toContain(named);
      expect(output, what).not.toMatch(/\/tmp|^\S+: /m);
      rmSync(join(folder, 'documents', `${'0'.repeat(64)}.json`), { force: true });
      for (const [path, bytes] of kept) writeFileSync(path, bytes);
    }
    expect(runCheckScript(folder, hex, older).status).toBe(FITS);
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
    expect((await verifyEvidence({ port, key: next, lastSigned })).faults).toEqual([]);
    const { folder } = await write('organization-1', '--since', older);
    for (const key of [hex, newHex])
      expect(runCheckScript(folder, key, older)).toMatchObject({ status: FITS });
    expect(runCheckScript(folder, hex).output).toContain(`The key ${hex} was replaced by ${newHex}`);
    expect(runCheckScript(folder, 'a1'.repeat(32)).output).toContain('not signed by the key that you gave');
    const told = await port.leaves({ told: Number.MAX_SAFE_INTEGER });
    const place = told.find(({ kind }) => kind === 'key')?.place ?? 0;
    const { note = '' } = (await port.checkpoint(place)) ?? {};
    expect(openNote(note, next)).toBeNull();
    const other = signingKey(next.name, randomBytes(32));
    const { faults } = await verifyEvidence({ port, key: other, lastSigned });
    expect(faults.every(({ fault }) => fault === 'it is not signed by the key of that time')).toBe(true);
    expect(faults.length).toBeGreaterThan(1);

    const { size } = await port.ends();
    const [at, signature] = ['2026-01-01T00:00:00.000Z', Buffer.alloc(64).toString('base64')];
    for (const old of [other.publicKey.toString('hex'), 'a1'])
      await appendOne(sealer, createObservation('key', { old, new: newHex, at, signature }));
    expect((await readSigners(port, next))(size).publicKey).toEqual(next.publicKey);
    await change();
    const led = await write('organization-1', '--since', older);
    const checked = runCheckScript(led.folder, newHex, older);
    expect(checked).toMatchObject({ status: DOES_NOT_FIT });
    expect(checked.output).toContain('is not signed by the old key');
  });

  test('T93 check.sh and verify --evidence refuse a pipe, a link and an endless file in place of any file', async ({
    skip,
  }) => {
    skip(!isTried);
    const { write, command, hex } = await openExportableLog(engine);
    const { folder } = await write('2025');
    const endless: readonly ((path: string) => void)[] = [
      path => execFileSync('mkfifo', [path]),
      path => symlinkSync('/dev/zero', path),
      path => symlinkSync(join(folder, 'README.txt'), path),
      writeSparseFile,
    ];
    const files = ['rows.txt', 'named.txt', ...FOLDERS.map(inner => findFirstFile(folder, inner))];
    for (const file of files) {
      const path = join(folder, file);
      const bytes = readFileSync(path);
      for (const make of endless) {
        rmSync(path);
        make(path);
        const { status, output } = runCheckScript(folder, hex);
        expect(status, output).toBe(NOTHING_TO_CHECK);
        expect(output).toContain(`${file} is a link, a pipe or too large`);
        const verified = await command('verify', '--evidence', folder, '--key', hex);
        expect(verified).toMatchObject({ exitCode: EXIT.checkFailed, stdout: output });
        rmSync(path);
        writeFileSync(path, bytes);
      }
    }
    expect(runCheckScript(folder, hex).status).toBe(FITS);
  });

  test('T93 verify --evidence prints the same as the script, and reads no unknown file', async ({ skip }) => {
    skip(!isTried);
    const { write, command, hex, older } = await openExportableLog(engine);
    const { folder } = await write('2025', '--since', older);
    const verify = (...words: string[]) => command('verify', '--evidence', folder, ...words);
    const verified = async () => {
      const { exitCode, stdout } = await verify('--key', hex, '--since', older);
      const { status, output } = runCheckScript(folder, hex, older);
      expect(stdout).toBe(output);
      expect(exitCode).toBe(status === FITS ? EXIT.ok : EXIT.checkFailed);
      return output;
    };
    expect(await verified()).toContain('3 of 3 sealed rows');
    const nobody = await verify();
    expect(nobody).toMatchObject({ exitCode: EXIT.checkFailed });
    expect(nobody.stdout).toContain('the signature was not checked');
    const plain = join(folder, '..', 'plain.txt');
    writeFileSync(plain, '');
    for (const none of [plain, join(folder, 'missing')])
      expect(await command('verify', '--evidence', none)).toMatchObject({ exitCode: EXIT.notFound });
    rmSync(join(folder, 'page.html'));
    mkdirSync(join(folder, 'page.html'));
    writeFileSync(join(folder, '.profile'), 'exit 7');
    expect(await verified()).toContain('match the checkpoint');
    writeFileSync(join(folder, 'documents', 'a -out b'), '');
    expect(await verified()).toContain('DOES NOT MATCH: documents/a -out b belongs to no leaf');
    symlinkSync('/etc', join(folder, 'certificates2'));
    expect(await verified()).toContain('certificates2 is a link');
    expect((await command('verify', '--key', hex)).exitCode).toBe(EXIT.usage);
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
    expect(restored.stderr).toMatch(/continues as mirror\.example\/log\/2026-.* sealed leaves were lost/);
    await change();
    expect((await verified()).faults).toEqual([]);
    const { folder } = await write('organization-1', '--since', older);
    const led = runCheckScript(folder, hex, older);
    expect(led).toMatchObject({ status: FITS });
    expect(led.output).toMatch(
      /^The log continues from your older checkpoint: its first \d+ leaves are the same as in the log mirror\.example\/log\.$/m,
    );
    expect(led.output).toMatch(/restored from a backup at 2026-.*: \d+ sealed leaves were lost/);
    expect(runCheckScript(folder, hex, newest)).toMatchObject({ status: DOES_NOT_FIT });
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
    expect(runCheckScript(folder, hex, forged)).toMatchObject({ status: DOES_NOT_FIT });
    const refused = await write('2025', '--since', forged);
    expect(refused).toMatchObject({ exitCode: EXIT.checkFailed });
    expect(refused.stderr).toContain('does not go on from the older checkpoint');
  });

  test('T93 the hash of check.sh is the one in docs/security.md', () => {
    const script = readFileSync(join(import.meta.dirname, '../../docs/check.sh'));
    const hash = createHash('sha256').update(script).digest('hex');
    expect(readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8')).toContain(hash);
  });

  test('a mirror that was changed by hand is not exported, even after a purge of another organization', async () => {
    const { write, stage, older, sealer } = await openExportableLog(engine);
    await stage.db.change("UPDATE retirements SET beneficiary = 'Nobody' WHERE id = 'b'");
    await appendOne(sealer, createObservation('purge', { leaves: 0, at: '2026-01-01T00:00:00.000Z' }));
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
