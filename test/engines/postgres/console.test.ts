import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/folder.js';
import { temporaryDatabase } from '../../support/postgres.js';

test('a console over a database makes the folder that holds its key', async () => {
  const { url } = await temporaryDatabase();
  const env = {
    MIRROR_DATABASE_URL: url,
    DATA_DIR: join(temporaryFolder(), 'not', 'yet'),
    CONSOLE_PORT: '0',
  };
  const started = await runCommand(['console'], { env, interruption: () => AbortSignal.abort() });
  expect(started).toMatchObject({ exitCode: 0, stdout: '' });
  expect(await runCommand(['console', 'url'], { env })).toMatchObject({ exitCode: 0, stderr: '' });
});
