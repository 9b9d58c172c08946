import { execFileSync } from 'node:child_process';
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCertificateFolder } from '../../../src/store/sqlite/certificates/folder.js';
import { temporaryFolder } from '../../support/inbox.js';

async function* pdf(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('%PDF-1.7 x\n%%EOF\n');
}

test('T52 a pipe that somebody put in the place of a certificate is not there, and holds nobody up', async () => {
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
