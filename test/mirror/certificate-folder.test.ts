import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createCertificateFolder } from '../../src/store/sqlite/mirror/certificate-folder.js';
import { temporaryFolder } from '../support/inbox.js';
import { createBrokenModule } from '../support/mutant.js';

async function* body(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const pdf = (text: string) => body('%P', 'DF-1.7 ', text, '\n%%E', 'OF\n');

test('T62 saving a file waits until its name is flushed, and files saved together share flushes', async () => {
  const files = join(temporaryFolder(), 'certificates');
  const flushed = new Set<string>();
  let flushes = 0;
  const syncFolder = async (): Promise<void> => {
    const names = readdirSync(files);
    await setTimeout(5);
    flushes += 1;
    for (const name of names) flushed.add(name);
  };
  const folder = createCertificateFolder(files, { now: Date.now, syncFolder });
  await folder.prepare();
  const ids = Array.from({ length: 40 }, (_, index) => `r-${index}`);
  const isFlushed = await Promise.all(
    ids.map(async id => {
      const { file } = await folder.save(id, pdf(id));
      return flushed.has(file);
    }),
  );
  expect(isFlushed).toEqual(ids.map(() => true));
  expect(flushes).toBeLessThan(ids.length / 2);
});

test('a failed flush fails every save that shared it, and the next save flushes again', async () => {
  const files = join(temporaryFolder(), 'certificates');
  let isBroken = true;
  const syncFolder = async (): Promise<void> => {
    if (isBroken) throw new Error('the disk is gone');
  };
  const folder = createCertificateFolder(files, { now: Date.now, syncFolder });
  await folder.prepare();
  await expect(folder.save('r-1', pdf('x'))).rejects.toThrow('the disk is gone');
  isBroken = false;
  await expect(folder.save('r-1', pdf('x'))).resolves.toMatchObject({ size: 17 });
});

test('T70 certificate files and their folder are accessible only to their owner', async () => {
  const files = join(temporaryFolder(), 'certificates');
  const folder = createCertificateFolder(files, { now: Date.now });
  await folder.prepare();
  const { file } = await folder.save('r-1', pdf('x'));
  expect(statSync(join(files, file)).mode & 0o777).toBe(0o600);
  expect(statSync(files).mode & 0o777).toBe(0o700);
});

test('T61 preparing the folder removes half-written files of dead processes and nothing else', async () => {
  const files = join(temporaryFolder(), 'certificates');
  const folder = createCertificateFolder(files, { now: Date.now });
  await folder.prepare();
  const deadPart = '.2147483646-3f0c1a52-0000-4000-8000-000000000000.part';
  const livePart = `.${process.pid}-3f0c1a52-0000-4000-8000-000000000000.part`;
  const otherLivePart = `.${process.ppid}-3f0c1a52-0000-4000-8000-000000000000.part`;
  for (const name of [deadPart, livePart, otherLivePart, 'notes.txt'])
    writeFileSync(join(files, name), '%PDF');
  mkdirSync(join(files, 'kept'));
  await folder.prepare();
  expect(readdirSync(files).toSorted()).toEqual([livePart, otherLivePart, 'kept', 'notes.txt'].toSorted());
});

test('T52 an intact file keeps its shorter legacy name, and a damaged one is left in place', async () => {
  const files = join(temporaryFolder(), 'certificates');
  const folder = createCertificateFolder(files, { now: Date.now });
  await folder.prepare();
  const { file: long, sha256 } = await folder.save('r-1', pdf('x'));
  const short = `r-1-${sha256.slice(0, 12)}.pdf`;
  renameSync(join(files, long), join(files, short));
  expect(await folder.save('r-1', pdf('x'))).toMatchObject({ file: short });
  expect(readdirSync(files)).toEqual([short]);
  writeFileSync(join(files, short), 'damaged');
  expect(await folder.save('r-1', pdf('x'))).toMatchObject({ file: long });
  expect(readFileSync(join(files, long), 'utf8')).toContain('x');
  expect(readFileSync(join(files, short), 'utf8')).toBe('damaged');
});

describe('T52 an object that replaced a certificate file', () => {
  const createOutsideFile = (folder: string) => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'secret text');
    return file;
  };

  test.each([
    [
      'a link to another file',
      (place: string, outside: string) => symlinkSync(createOutsideFile(outside), place),
    ],
    ['a link to nothing', (place: string) => symlinkSync('/nowhere/at/all', place)],
    ['a link without end', (place: string) => symlinkSync('/dev/zero', place)],
    ['a folder', (place: string) => mkdirSync(place)],
  ])('is not opened, and saving replaces it: %s', async (_, put) => {
    const outside = temporaryFolder();
    const files = join(outside, 'certificates');
    const folder = createCertificateFolder(files, { now: Date.now });
    await folder.prepare();
    const { file, sha256 } = await folder.save('r-1', pdf('x'));
    rmSync(join(files, file));
    put(join(files, file), outside);
    expect(await folder.open(file)).toBeNull();
    expect(await folder.save('r-1', pdf('x'))).toMatchObject({ file, sha256 });
    const stored = lstatSync(join(files, file));
    expect([stored.isFile(), stored.size]).toEqual([true, 17]);
    expect(readFileSync(createOutsideFile(outside), 'utf8')).toBe('secret text');
  });
});

describe('T52 two PDFs whose hashes start with the same digits', () => {
  const hash = createHash('sha256').update('%PDF-1.7 second\n%%EOF\n').digest('hex');
  const legacyName = `r-1-${hash.slice(0, 12)}.pdf`;

  async function saveBeside(create: typeof createCertificateFolder): Promise<string> {
    const files = join(temporaryFolder(), 'certificates');
    const folder = create(files, { now: () => 0 });
    await folder.prepare();
    writeFileSync(join(files, legacyName), '%PDF-1.7 first\n%%EOF\n');
    const { file } = await folder.save('r-1', pdf('second'));
    expect(readFileSync(join(files, file), 'utf8')).toContain('second');
    return readFileSync(join(files, legacyName), 'utf8');
  }

  test('are stored as two files, and the first is not overwritten', async () => {
    expect(await saveBeside(createCertificateFolder)).toContain('first');
  });

  test('would overwrite each other if file names contained only part of the hash', async () => {
    const address = createBrokenModule(
      'mirror/certificates/certificate-file-name.js',
      '`${validateRetirementId(retirementId)}-${sha256}.pdf`',
      '`${validateRetirementId(retirementId)}-${sha256.slice(0, 12)}.pdf`',
      'store/sqlite/mirror/certificate-folder.js',
    );
    const broken: { createCertificateFolder: typeof createCertificateFolder } = await import(address);
    expect(await saveBeside(broken.createCertificateFolder)).toContain('second');
  });
});
