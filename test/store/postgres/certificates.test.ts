import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createCertificateTable } from '../../../src/store/postgres/mirror/certificate-table.js';
import { listPdfNames } from '../../support/pdfs.js';
import { openForTest, createDatabase } from '../../support/postgres.js';

const MIB = 1024 * 1024;

async function tableScene() {
  const database = await createDatabase();
  const postgres = openForTest(database);
  return { database, ...postgres, pdfs: createCertificateTable(postgres, { now: Date.now }) };
}

/** Each MiB has bytes of its own. */
async function* pdfOf(mib: number, more = 0) {
  yield Buffer.from('%PDF');
  for (let part = 1; part < mib; part += 1) yield Buffer.alloc(MIB, String(part));
  yield Buffer.concat([Buffer.alloc(MIB - 9 + more, '_'), Buffer.from('%%EOF')]);
}

test('a PDF of nearly 20 MiB is stored, and read 1 MiB at a time', async () => {
  const { pdfs, query } = await tableScene();
  const { file, sha256, size } = await pdfs.save('r-1', pdfOf(20));
  expect(size).toBe(20 * MIB);
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
    await query('DELETE FROM mirror.certificate_files');
  }
  expect(read).toBe(MIB);
});

test('a file larger than 20 MiB is refused, and nothing of it is stored', async () => {
  const { pdfs } = await tableScene();
  await expect(pdfs.save('r-1', pdfOf(20, 1))).rejects.toMatchObject({
    code: 'certificate_too_large',
    message: 'more than 20971520 bytes',
  });
  expect(await listPdfNames(pdfs)).toEqual([]);
});

test('certificate bytes are stored out of line and uncompressed', async () => {
  const { pdfs, query } = await tableScene();
  const stored = await query(
    "SELECT attstorage FROM pg_attribute WHERE attrelid = 'mirror.certificate_files'::regclass AND attname = 'bytes'",
  );
  expect(stored).toEqual([{ attstorage: 'e' }]);
  const taken = async () =>
    (await query<{ bytes: number }>("SELECT pg_total_relation_size('mirror.certificate_files') AS bytes"))[0]
      ?.bytes;
  await pdfs.save('r-1', pdfOf(5));
  expect(await taken()).toBeLessThan(6 * MIB);
  await pdfs.save('r-1', pdfOf(5));
  expect(await taken()).toBeLessThan(6 * MIB);
});

test('two workers that save the same file store it once, even over a damaged one', async () => {
  const { pdfs, query } = await tableScene();
  const twice = async () => {
    const saved = await Promise.all([pdfs.save('r-1', pdfOf(1)), pdfs.save('r-1', pdfOf(1))]);
    return saved.map(({ file }) => file);
  };
  const [file = '', other] = await twice();
  expect(other).toBe(file);
  expect(await listPdfNames(pdfs)).toEqual([file]);
  await query("UPDATE mirror.certificate_files SET bytes = 'damaged'");
  expect(await twice()).toEqual([file, file]);
  const names = await listPdfNames(pdfs);
  expect(names).toEqual([file, expect.stringMatching(/\.damaged$/)]);
  const [whole] = await query('SELECT length(bytes) AS n FROM mirror.certificate_files WHERE file = $1', [
    file,
  ]);
  expect(whole).toEqual({ n: MIB });
});

test('T61 a worker that is killed while it saves a certificate leaves nothing of it', async () => {
  const { database, pdfs } = await tableScene();
  const program = fileURLToPath(new URL('../../support/killed-certificate-walk.js', import.meta.url));
  const child = spawn(process.execPath, [program, database.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await listPdfNames(pdfs)).toEqual([]);
});
