import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createCertificateFolder } from '../../src/mirror/certificates/folder.js';
import { temporaryFolder } from '../support/inbox.js';
import { brokenModule } from '../support/mutant.js';

async function* body(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const pdf = (words: string) => body('%P', 'DF-1.7 ', words, '\n%%E', 'OF\n');

test('T62 a file is stored only once its name is flushed, and files that come together share flushes', async () => {
  const files = join(temporaryFolder(), 'certificates');
  const flushed = new Set<string>();
  let flushes = 0;
  const flushNames = async (): Promise<void> => {
    const names = readdirSync(files);
    await setTimeout(5);
    flushes += 1;
    for (const name of names) flushed.add(name);
  };
  const folder = createCertificateFolder(files, { now: Date.now, flushNames });
  await folder.open();
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

test('a flush of names that failed is told to those who shared it, and the next is tried again', async () => {
  const files = join(temporaryFolder(), 'certificates');
  let isBroken = true;
  const flushNames = async (): Promise<void> => {
    if (isBroken) throw new Error('the disk is gone');
  };
  const folder = createCertificateFolder(files, { now: Date.now, flushNames });
  await folder.open();
  await expect(folder.save('r-1', pdf('x'))).rejects.toThrow('the disk is gone');
  isBroken = false;
  await expect(folder.save('r-1', pdf('x'))).resolves.toMatchObject({ size: 17 });
});

describe('T52 two PDFs whose hashes begin alike', () => {
  const hash = createHash('sha256').update('%PDF-1.7 second\n%%EOF\n').digest('hex');
  const taken = `r-1-${hash.slice(0, 12)}.pdf`;

  async function saveBeside(create: typeof createCertificateFolder): Promise<string> {
    const files = join(temporaryFolder(), 'certificates');
    const folder = create(files, { now: () => 0 });
    await folder.open();
    writeFileSync(join(files, taken), '%PDF-1.7 first\n%%EOF\n');
    const { file } = await folder.save('r-1', pdf('second'));
    expect(readFileSync(join(files, file), 'utf8')).toContain('second');
    return readFileSync(join(files, taken), 'utf8');
  }

  test('are two files: the first is not written over', async () => {
    expect(await saveBeside(createCertificateFolder)).toContain('first');
  });

  test('with a part of the hash in the name the first would be gone', async () => {
    const address = brokenModule(
      'mirror/certificates/folder.js',
      'const name = `${retirementId}-${sha256}.pdf`',
      'const name = `${retirementId}-${sha256.slice(0, 12)}.pdf`',
      'mirror/certificates/folder.js',
    );
    const broken: { createCertificateFolder: typeof createCertificateFolder } = await import(address);
    expect(await saveBeside(broken.createCertificateFolder)).toContain('second');
  });
});
