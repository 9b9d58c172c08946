import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createErrands } from '../../src/cli/processes/errands.js';
import { openEngine } from '../../src/engines/open.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { retirements, temporaryMirror, temporaryScene } from '../support/mirror.js';
import { tablesIn, tablesInFile } from '../support/tables.js';

/** A server of PostgreSQL lets somebody in with these bytes, and this one says nothing more. */
const WELCOME = Buffer.from('R\0\0\0\b\0\0\0\0Z\0\0\0\x05I');

const STAYS = new AbortController().signal;

function errandsIn(folder: string, diskReserveMb: number | null = 0, more: Record<string, string> = {}) {
  const engine = openEngine({ dataDir: folder, diskReserveMb, database: null });
  const env = { DATA_DIR: folder, REGISTRY_APP_ID: 'app-1', ...more };
  return createErrands({ env, now: Date.now }, { folder, engine });
}

async function stage(diskReserveMb: number | null = 0) {
  const { folder, read } = temporaryScene();
  temporaryInbox(folder);
  await read('retirements', retirements(20));
  const copies = () => readdirSync(folder).filter(name => name.startsWith('copy-'));
  return { folder, errands: errandsIn(folder, diskReserveMb), copies };
}

test('a check by a program of its own says what it found', async () => {
  const folder = temporaryFolder();
  temporaryMirror(folder);
  temporaryInbox(folder);
  const errands = errandsIn(folder);
  expect(await errands.verify(STAYS)).toMatchObject({
    isWhole: true,
    says: expect.stringContaining('whole'),
  });
  await tablesIn(folder).change(
    "INSERT INTO inbox.signed_texts (digest, signed_data, last_received_at) VALUES ('other', 'text', '2026-05-04T12:00:00.000Z')",
  );
  const { isWhole, says } = await errands.verify(STAYS);
  expect([isWhole, says.includes('a signed text is what its digest says')]).toEqual([false, true]);
});

test('a copy is the whole mirror in one file, and nothing of it is left here', async () => {
  const { errands, copies } = await stage();
  const copied = await errands.copy(STAYS);
  expect(copies()).toEqual([]);
  if (!('body' in copied)) throw new Error('expected a copy');
  const bytes = await buffer(copied.body);
  expect(bytes.length).toBe(copied.bytes);
  const file = join(temporaryFolder(), copied.name);
  writeFileSync(file, bytes);
  expect(await tablesInFile(file).value('SELECT count(*) FROM retirements')).toBe(20);
});

test('who leaves while a copy is made leaves nothing behind', async () => {
  const { errands, copies } = await stage();
  const gone = new AbortController();
  const copied = errands.copy(gone.signal);
  expect(copies()).toHaveLength(1);
  gone.abort();
  await expect(copied).rejects.toThrow('aborted');
  expect(copies()).toEqual([]);
});

test('who leaves ends the program that is at work', async () => {
  const folder = temporaryFolder();
  const sockets: Socket[] = [];
  const silent = createServer(socket => {
    sockets.push(socket.on('error', () => undefined));
    socket.once('data', () => socket.write(WELCOME));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const { port } = Object(silent.address());
  const database = `postgres://nobody@127.0.0.1:${port}/silent`;
  const gone = new AbortController();
  const checked = errandsIn(folder, 0, { MIRROR_DATABASE_URL: database }).verify(gone.signal);
  await expect.poll(() => sockets.some(({ bytesWritten }) => bytesWritten > 0)).toBe(true);
  gone.abort();
  await expect(checked).rejects.toThrow('aborted');
  await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true);
});

test('what a console that was killed has left goes a day later, with the next copy', async () => {
  const { folder, errands } = await stage();
  const [old, young] = [join(folder, 'copy-old'), join(folder, 'copy-young')];
  for (const path of [old, young]) mkdirSync(path);
  const longAgo = Date.now() / 1000 - 90_000;
  utimesSync(old, longAgo, longAgo);
  const copied = await errands.copy(STAYS);
  if ('body' in copied) copied.body.destroy();
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});

test('a copy takes nothing of what is kept for deliveries', async () => {
  const { errands, copies } = await stage(999_999_999);
  expect(await errands.copy(STAYS)).toMatchObject({ fault: expect.stringContaining('kept for deliveries') });
  expect(copies()).toEqual([]);
});
