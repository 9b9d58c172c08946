import { execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCertificateFolder } from '../../../src/store/sqlite/mirror/certificate-folder.js';
import { temporaryFolder } from '../../support/inbox.js';

async function* pdf(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('%PDF-1.7 x\n%%EOF\n');
}

test('T52 a pipe in place of a certificate counts as missing and blocks no reader', async () => {
  const files = join(temporaryFolder(), 'certificates');
  const folder = createCertificateFolder(files, { now: Date.now });
  await folder.prepare();
  const { file, sha256 } = await folder.save('r-1', pdf());
  rmSync(join(files, file));
  execFileSync('mkfifo', [join(files, file)]);
  expect(await folder.open(file)).toBeNull();
  expect(await folder.save('r-1', pdf())).toMatchObject({ file, sha256 });
  expect(lstatSync(join(files, file)).isFile()).toBe(true);
});

test('T61 a half-written file is not listed, and is removed after a day', async () => {
  const files = join(temporaryFolder(), 'certificates');
  const clock = { at: Date.now() };
  const folder = createCertificateFolder(files, { now: () => clock.at });
  await folder.prepare();
  const cut = new EventEmitter();
  async function* begun() {
    yield Buffer.from('%PDF');
    await once(cut, 'off');
    yield Buffer.from('%%EOF');
  }
  const saving = folder.save('r-1', begun());
  await expect.poll(() => readdirSync(files)).toEqual([expect.stringMatching(/^\..*\.part$/)]);
  const part = readdirSync(files);
  expect(await folder.open(part[0] ?? '')).toBeNull();
  await folder.prepare();
  expect(readdirSync(files)).toEqual(part);
  clock.at += 86_460_000;
  await folder.prepare();
  expect(readdirSync(files)).toEqual([]);
  cut.emit('off');
  await expect(saving).rejects.toThrow(Error);
  expect(readdirSync(files)).toEqual([]);
});
