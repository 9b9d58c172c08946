import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { measure } from '../../../src/cli/commands/certificates/files.js';
import { createMirrorPort } from '../../../src/store/postgres/mirror/mirror.js';
import { createPieces } from '../../../src/store/postgres/mirror/pieces.js';
import { namesIn } from '../../support/pdfs.js';
import { openTemporary, temporaryDatabase } from '../../support/postgres.js';

const MIB = 1024 * 1024;
const DAY = 86_400_000;

async function piecesScene() {
  const database = await temporaryDatabase();
  const postgres = openTemporary(database);
  const clock = { at: Date.now() };
  const pdfs = createPieces(postgres, { now: () => clock.at, maxBytes: 60 * MIB });
  const count = async () => {
    const [row] = await postgres.query<{ n: number }>('SELECT count(*) AS n FROM mirror.certificate_pieces');
    return row?.n ?? 0;
  };
  return { database, ...postgres, port: createMirrorPort(postgres), clock, pdfs, count };
}

test('a PDF of 50 MiB is stored piece by piece as it comes, and read one piece at a time', async () => {
  const { pdfs, count, query } = await piecesScene();
  const behind: number[] = [];
  const sent = createHash('sha256');
  async function* slowly() {
    for (let part = 0; part < 200; part += 1) {
      const chunk = Buffer.alloc(MIB / 4, part === 0 ? '%PDF' : String(part));
      if (part === 199) chunk.write('%%EOF', chunk.length - 5);
      sent.update(chunk);
      behind.push(part / 4 - (await count()));
      yield chunk;
    }
  }
  const { file, sha256, size } = await pdfs.save('r-1', slowly());
  expect({ sha256, size }).toEqual({ sha256: sent.digest('hex'), size: 50 * MIB });
  expect(Math.max(...behind)).toBeLessThanOrEqual(1);
  expect(await count()).toBe(50);

  const came = createHash('sha256');
  let longest = 0;
  for await (const bytes of (await pdfs.open(file)) ?? []) {
    longest = Math.max(longest, bytes.length);
    came.update(bytes);
  }
  expect(came.digest('hex')).toBe(sha256);
  expect(longest).toBe(MIB);

  let read = 0;
  for await (const bytes of (await pdfs.open(file)) ?? []) {
    read += bytes.length;
    await query('DELETE FROM mirror.certificate_pieces WHERE piece >= 2');
  }
  expect(read).toBe(2 * MIB);
});

test('the bytes stand beside the table as they are, and are not written again with their name', async () => {
  const { pdfs, query } = await piecesScene();
  const stored = await query(
    "SELECT attstorage FROM pg_attribute WHERE attrelid = 'mirror.certificate_pieces'::regclass AND attname = 'bytes'",
  );
  expect(stored).toEqual([{ attstorage: 'e' }]);
  async function* body() {
    yield Buffer.from('%PDF');
    yield Buffer.alloc(5 * MIB);
    yield Buffer.from('%%EOF');
  }
  await pdfs.save('r-1', body());
  const [size] = await query<{ bytes: number }>(
    "SELECT pg_total_relation_size('mirror.certificate_pieces') AS bytes",
  );
  expect(size?.bytes).toBeLessThan(6 * MIB);
});

test('T61 a worker that is killed while a certificate arrives leaves no file, and its pieces go a day later', async () => {
  const { database, pdfs, port, count, clock } = await piecesScene();
  const program = fileURLToPath(new URL('../../support/killed-walk.js', import.meta.url));
  const child = spawn(process.execPath, [program, database.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const names = await namesIn(pdfs);
  expect(names).toEqual([expect.stringMatching(/^\..*\.part$/)]);
  expect(await pdfs.open(names[0] ?? '')).toBeNull();
  expect(await count()).toBeGreaterThan(3);
  await pdfs.prepare();
  expect(await namesIn(pdfs)).toEqual(names);
  clock.at += DAY + 60_000;
  await pdfs.prepare();
  expect(await count()).toBe(0);
  expect(await port.removeUnnamedFiles(names)).toBe(0);
});

test('pieces of which some are gone never become a file', async () => {
  const { pdfs, query, count } = await piecesScene();
  async function* body() {
    yield Buffer.from('%PDF');
    yield Buffer.alloc(3 * MIB);
    await query('DELETE FROM mirror.certificate_pieces WHERE piece = 0');
    yield Buffer.from('%%EOF');
  }
  await expect(pdfs.save('r-1', body())).rejects.toThrow('3 of 4 pieces of a certificate were left');
  expect(await count()).toBe(0);
});

test('a piece that is missing is seen: what is left has another hash', async () => {
  const { pdfs, query } = await piecesScene();
  async function* body() {
    yield Buffer.from('%PDF');
    for (const words of ['one', 'two', 'three']) yield Buffer.alloc(MIB, words);
    yield Buffer.from('%%EOF');
  }
  const { file, sha256, size } = await pdfs.save('r-1', body());
  expect(await measure(pdfs, file)).toEqual({ sha256, size });
  for (const piece of [1, 3]) {
    await query('DELETE FROM mirror.certificate_pieces WHERE piece = $1', [piece]);
    const found = await measure(pdfs, file);
    expect(found?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(found?.sha256).not.toBe(sha256);
  }
});
