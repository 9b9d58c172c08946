import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createReaderPool } from '../../src/console/reader-pool.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import { temporaryInbox } from '../support/inbox.js';
import { openMirror } from '../support/mirror/open.js';

test('concurrent pages get their own readers, the fifth waits, and free readers are reused', async () => {
  const { folder } = await openMirror();
  temporaryInbox(folder);
  const files = { mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') };
  const readers = createReaderPool(async () => openReader(files));
  onTestFinished(() => readers.close());
  await readers.withReader(async () => undefined);
  const ends: (() => void)[] = [];
  const seen: Reader[] = [];
  const page = async (reader: Reader): Promise<void> => {
    seen.push(reader);
    await new Promise<void>(resolve => ends.push(resolve));
  };
  const pages = Array.from({ length: 5 }, () => readers.withReader(page));
  await expect.poll(() => seen.length).toBe(4);
  expect(new Set(seen).size).toBe(4);
  ends[0]?.();
  await expect.poll(() => seen.length).toBe(5);
  expect(seen[4]).toBe(seen[0]);
  for (const end of ends) end();
  await Promise.all(pages);
});
