import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NO_LIMIT } from '../../src/evidence/port.js';
import { continueAfterRestore } from '../../src/evidence/restore-log.js';
import { ENGINES } from '../support/mirror/open.js';
import { checkFolder } from '../support/evidence-folder.js';
import { alterFile, openExportableLog } from '../support/exported-evidence.js';
import { temporaryFolder } from '../support/inbox.js';
import { checkWithOtherLibraries } from '../support/other-checkers.js';
import { chooseLength } from '../support/long.js';

describe.each(ENGINES)('$name', engine => {
  test('T93 sigstore and transmute agree with the checker about each leaf, the note and an older checkpoint', async () => {
    const { write, change, hex, key, older, sealer, port } = await openExportableLog(engine);
    const olderNote = readFileSync(older, 'utf8');
    for (const what of ['2025', 'organization-1', 'old']) {
      const { folder } = await write(what, '--since', older);
      expect(await checkFolder(folder, hex, older), what).toMatchObject({ verdict: 'verified' });
      expect(await checkWithOtherLibraries(folder, key, olderNote), what).toEqual([]);
    }
    for (let round = 0; round < 3; round += 1) await change();
    await continueAfterRestore(sealer);
    await change();
    for (const { note } of (await port.listCheckpoints(0, NO_LIMIT)).slice(0, chooseLength(2, -1))) {
      const held = join(temporaryFolder(), 'held.txt');
      writeFileSync(held, note);
      const { folder } = await write('organization-1', '--since', held);
      expect(await checkFolder(folder, hex, held)).toMatchObject({ verdict: 'verified' });
      expect(await checkWithOtherLibraries(folder, key, note)).toEqual([]);
    }
  });

  test.each([
    ['a record', 'evidence.jsonl', /Voluntary/, 'voluntary', 'calculated root hash does not match'],
    [
      'a sync',
      'evidence.jsonl',
      /"started_at":"2026/,
      '"started_at":"2025',
      'calculated root hash does not match',
    ],
    [
      'a node',
      'evidence.jsonl',
      /\{"hash":"[0-9a-f]{8}/,
      '{"hash":"00000000',
      'calculated root hash does not match',
    ],
    ['the instant', 'checkpoint.txt', /\n2026/, '\n2025', 'invalid checkpoint signature'],
    ['the root', 'checkpoint.txt', /\n[A-Za-z0-9+/]{8}/, '\nAAAAAAAA', 'does not go on'],
  ])(
    'T93 sigstore and transmute find a forgery of %s, as the checker does',
    async (_what, file, was, is, fault) => {
      const { write, hex, key, older } = await openExportableLog(engine);
      const { folder } = await write('organization-1', '--since', older);
      alterFile(folder, file, text => text.replace(was, is));
      expect(await checkFolder(folder, hex, older)).toMatchObject({ verdict: 'not verified' });
      const faults = await checkWithOtherLibraries(folder, key, readFileSync(older, 'utf8'));
      expect(faults).toContainEqual(expect.stringContaining(fault));
    },
  );

  test('T91 sigstore and transmute find a wrong key, and a log that does not continue an older checkpoint', async () => {
    const { write, key, older } = await openExportableLog(engine);
    const { folder } = await write('organization-1', '--since', older);
    const olderNote = readFileSync(older, 'utf8');
    const another = { name: key.name, publicKey: Buffer.alloc(key.publicKey.length, 1) };
    expect(await checkWithOtherLibraries(folder, another, olderNote)).toContainEqual(
      expect.stringContaining('invalid checkpoint signature'),
    );
    const forged = olderNote.replace(/\n[A-Za-z0-9+/]{8}/, '\nAAAAAAAA');
    expect(await checkWithOtherLibraries(folder, key, forged)).toEqual([
      'it does not go on from the older checkpoint',
    ]);
  });
});
