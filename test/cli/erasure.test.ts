import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createCertificateFolder } from '../../src/store/sqlite/mirror/certificate-folder.js';
import { createMirror } from '../../src/mirror/create-mirror.js';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import { openTestInbox, acceptedDelivery, temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { installation, member, retirement } from '../support/mirror/rows.js';
import { MINUTE, openMirror, TRAFFIC } from '../support/mirror/open.js';
import { streamText } from '../support/certificates.js';
import { listPdfNames } from '../support/pdfs.js';
import { runCommand } from '../support/command.js';

/** Returns the bytes of all files in a folder: databases, logs and certificates. */
function readAllBytes(folder: string): Buffer {
  return Buffer.concat(
    readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => readFileSync(join(entry.parentPath, entry.name))),
  );
}

const purge = async (folder: string, ...more: string[]) =>
  await runCommand(
    ['purge', '--organization', 'organization-1', '--confirm', 'organization-1', '--force', ...more],
    { env: { DATA_DIR: folder } },
  );

describe('T75 forget', () => {
  test.each([
    ['in capitals that are not ASCII', 'ÄNNE@EXAMPLE.ORG', 'änne@example.org'],
    ['with spaces around it', ' anne@example.org\u00a0', 'anne@example.org'],
    ['with a sharp s', 'STRASSE@example.org', 'straße@example.org'],
    ['in letters of another width', 'ａnne@example.org', 'anne@example.org'],
  ])(
    'removes an address %s from current and past rows and keeps it out of later reads',
    async (_, sent, email) => {
      const folder = temporaryFolder();
      temporaryInbox(folder).close();
      const { db, clock, read } = await openMirror({ folder });
      await read('members', [member('m-1', sent), member('m-2', 'other@example.org')]);
      clock.at += MINUTE;
      await read('members', [{ ...member('m-1', sent), document: JSON.stringify({ email: sent }) }]);
      const { exitCode, stdout } = await runCommand(['forget', '--person', email, '--json'], {
        env: { DATA_DIR: folder },
        now: () => clock.at,
      });
      expect(exitCode).toBe(0);
      expect(Object.values(JSON.parse(stdout))).toContain(2);
      expect(readAllBytes(folder).includes(sent.trim())).toBe(false);
      clock.at += MINUTE;
      await read('members', [member('m-1', email), member('m-3', 'third@example.org')]);
      expect(await db.column('SELECT id FROM members ORDER BY id')).toEqual(['m-3']);
    },
  );
});

describe('T75 purge', () => {
  const PDF = '%PDF-1.7 of the purged one\n%%EOF\n';

  async function filled() {
    const folder = temporaryFolder();
    const inbox = temporaryInbox(folder);
    await openTestInbox(inbox).at(0).raiseClaims(5);
    const scene = await openMirror({ folder });
    const files = join(folder, 'certificates');
    mkdirSync(files);
    const certificates = createCertificateFolder(files, { now: () => scene.clock.at });
    const store = createCertificateStore(scene.port, certificates, () => scene.clock.at);
    const ids = Array.from({ length: 210 }, (_, index) => `retired-${String(index).padStart(4, '0')}-x`);
    const list = (comment: string) => ids.map(id => retirement(id, { comment }));
    for (const comment of ['first', 'second', 'third']) {
      scene.clock.at += MINUTE;
      await scene.read('retirements', list(comment), { limit: 100, total: ids.length });
    }
    await store.makeNewDue();
    const begin = { organizationId: 'organization-1', claim: 1, startedAt: scene.clock.at };
    const walk = await store.beginSession({ ...begin, trigger: 'schedule' });
    await walk.listDue(500);
    for (const id of ids.slice(0, 20)) {
      await walk.store(id, streamText(PDF), scene.clock.at);
    }
    await walk.finish(TRAFFIC);
    return { ...scene, folder, files, ids, inbox, store };
  }

  test('leaves no id of the organization in any byte of the mirror and its files', async () => {
    const { folder, ids, handle, inbox } = await filled();
    await openTestInbox(inbox).accept([{ ...acceptedDelivery(), signedData: textAbout(ids[0] ?? '') }], 0);
    const { exitCode, stdout, stderr } = await purge(folder, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.stringify(JSON.parse(stdout))).toContain('20');
    expect(stderr).toContain('Backups, snapshots, and rows of other organizations');
    handle.pragma('wal_checkpoint(TRUNCATE)');
    inbox.pragma('wal_checkpoint(TRUNCATE)');
    const bytes = readAllBytes(folder);
    expect(ids.filter(id => bytes.includes(id))).toEqual([]);
    expect(bytes.includes('of the purged one')).toBe(false);
  });

  test('completes when it is repeated after a kill before or after the removal of files', async () => {
    const { folder, files, port, db, ids } = await filled();
    const dying = createMirror({ ...port, removeUnreferencedFiles: async () => fail('killed') }, Date.now);
    const killed = dying.purge({
      organizationId: 'organization-1',
      acquireClaim: async () => 9,
      pdfs: createCertificateFolder(files, { now: Date.now }),
    });
    await expect(killed).rejects.toThrow('killed');
    expect(readdirSync(files)).toHaveLength(20);
    writeFileSync(join(files, `${ids[30]}-0123456789ab.pdf`), PDF);
    writeFileSync(join(files, 'of-another-0123456789ab.pdf'), PDF);
    expect(await purge(folder)).toMatchObject({ exitCode: 0 });
    expect(readdirSync(files)).toEqual(['of-another-0123456789ab.pdf']);
    expect(await db.value('SELECT count(*) FROM certificates_history')).toBe(0);
  });

  test('killed during a newer certificate walk leaves no row without its file', async () => {
    const { mirror, read, db, files, clock, ids, store } = await filled();
    const pdfs = createCertificateFolder(files, { now: Date.now });
    async function* walkNewer(): AsyncGenerator<readonly string[]> {
      const found = await listPdfNames(pdfs);
      const at = { startedAt: clock.at, arrivedAt: clock.at, trigger: 'delivery' };
      await mirror.writeInstallation({
        installationId: 'installation-1',
        state: 'active',
        claim: 10,
        ...at,
      });
      const items = ids.map(id => retirement(id, { comment: 'fourth' }));
      await read('retirements', items, { claim: 10, limit: 100, total: ids.length });
      await store.makeNewDue();
      const walk = await store.beginSession({ organizationId: 'organization-1', claim: 10, ...at });
      await walk.listDue(500);
      for (const [index, id] of ids.slice(0, 30).entries())
        await walk.store(id, streamText(index < 10 ? PDF : `${PDF}%%EOF`), clock.at);
      await walk.finish(TRAFFIC);
      yield found;
    }
    const claims = [9];
    const killed = mirror.purge({
      organizationId: 'organization-1',
      acquireClaim: async () => claims.shift() ?? fail('killed'),
      pdfs: { ...pdfs, list: walkNewer },
    });
    await expect(killed).rejects.toThrow('killed');
    const named = await db.column<string>(
      'SELECT file FROM certificates_history WHERE file IS NOT NULL ORDER BY file',
    );
    expect(named).toHaveLength(20);
    expect(readdirSync(files).toSorted()).toEqual(named);
  });

  test('removes rows that a concurrent newer read wrote, refuses its later writes and reports it', async () => {
    const { mirror, read, db, files, clock } = await filled();
    const claims = [9, 9, 11];
    const takeClaim = async () => claims.shift() ?? 0;
    const pdfs = createCertificateFolder(files, { now: Date.now });
    const at = { startedAt: clock.at, arrivedAt: clock.at, trigger: 'delivery' };
    const newer = installation('installation-1', { updatedAt: '2026-05-05T00:00:00.000Z' });
    async function* readNewer(): AsyncGenerator<readonly string[]> {
      await mirror.writeInstallation({ installation: newer, state: 'active', claim: 10, ...at });
      await read('retirements', [retirement('new-one')], { claim: 10 });
      yield* pdfs.list(null);
    }
    const purging = mirror.purge({
      organizationId: 'organization-1',
      acquireClaim: takeClaim,
      pdfs: { ...pdfs, list: readNewer },
    });
    expect(await purging).toEqual({ removedFiles: 20, newInstallationIds: ['installation-1'] });
    const tables = ['retirements_history', 'certificates_history', 'resource_states', 'installations'];
    for (const table of tables) expect(await db.rows(`SELECT * FROM ${table}`), table).toEqual([]);
    expect(readdirSync(files)).toEqual([]);
    await expect(read('warehouse', [], { claim: 10 })).rejects.toMatchObject({ code: 'fenced' });
    await mirror.writeInstallation({ installation: newer, state: 'active', claim: 12, ...at });
    await read('retirements', [retirement('new-one')], { claim: 12 });
    expect(await db.column('SELECT id FROM retirements')).toEqual(['new-one']);
  });
});

function fail(why: string): never {
  throw new Error(why);
}

function textAbout(id: string): string {
  return Buffer.from(JSON.stringify({ organizationId: 'organization-1', id })).toString('base64');
}
