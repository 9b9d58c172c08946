/** `restore` verifies a backup and puts it back. It never deletes the data that it replaces, but moves it aside. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredRecordCounts } from '../../../query/inbox/deliveries.js';
import { defineCommand } from '../../define-command.js';
import { createNotFoundError, createUsageError, throwIfInterrupted } from '../../command-error.js';
import { continueRestoredLog, describeRestoredLog } from '../../evidence/restored-log.js';
import { beginNewEpoch } from '../../subscriptions/begin-epoch.js';
import { makeRequired, defineText } from '../../options.js';
import {
  JSON_FORMAT,
  requireFileBackupStore,
  openFolder,
  verifyCopiedMirror,
  readContents,
  describeContents,
} from './copied-mirror.js';

export const RESTORE = defineCommand({
  summary: 'Replace the current data with a backup',
  details:
    'Stop every process of carbon-mirror first. The replaced data is moved aside, not deleted. ' +
    'For a mirror in PostgreSQL, use pg_restore: the command prints the lines to run.',
  args: { folder: makeRequired(defineText('folder', 'a folder written by "carbon-mirror backup"')) },
  formats: JSON_FORMAT,
  examples: ['carbon-mirror restore /backup/2026-01-31'],
  run: async (context, { folder }) => {
    const { io, findMirror } = context;
    const { engine, env, folder: dataDir } = findMirror();
    const keeping = requireFileBackupStore(findMirror());
    const backup = openFolder(folder);
    const missing = backup.findMissingFile();
    if (missing !== null) throw createNotFoundError(`${folder} is not a backup: ${missing} is missing.`);
    const keyFile = env['EVIDENCE_KEY_FILE'];
    if (!keyFile && existsSync(join(folder, 'evidence.db')))
      throw createUsageError(
        'EVIDENCE_KEY_FILE is not set. It is needed to continue the evidence log of the backup under a new name.',
      );
    await keeping.assertNotOpen();
    const stage = await keeping.openStagingFolder();
    try {
      await backup.backup?.copyTo(stage.folder);
      const staged = openFolder(stage.folder);
      await staged.migrate(io.now());
      await verifyCopiedMirror(context, staged);
      // Before the files are replaced, so that no event of the old epoch can follow.
      const epoch = await beginNewEpoch({ engine: staged, now: io.now, reason: 'restored' });
      // From here on the first signal does not end the process: it would leave only a part of the files replaced.
      throwIfInterrupted(io.createInterruptSignal());
      const aside = join(dataDir, `replaced-${new Date(io.now()).toISOString().replaceAll(':', '.')}`);
      await keeping.replaceWith(stage.folder, aside);
      const contents = await readContents(engine);
      /** Null if the replaced data can no longer be read. */
      const lost = await readContents(openFolder(aside), contents).catch(() => null);
      const evidence = keyFile ? await continueRestoredLog({ engine }, keyFile, io.now) : null;
      await context.printResult(
        { aside, ...contents, lost, evidence, epoch },
        `Restored ${folder}: ${describeContents(contents)}.`,
        ...describeReplacedData(aside, lost),
        'Webhooks sent since then were lost; the next scheduled reads find what they announced.',
        ...(evidence === null ? [] : [describeRestoredLog(evidence)]),
        ...(epoch === null
          ? []
          : [`Event ids begin with ${epoch}. Subscribers are told by mirror.restored.`]),
      );
    } finally {
      stage.close();
    }
  },
});

/**
 * Returns a line with the folder that contains the replaced data, and with the number of its deliveries and syncs that are newer than the
 * backup (`newerContents`, null if the replaced data cannot be read). Returns no line if no data was replaced.
 */
function describeReplacedData(
  previousDataFolder: string,
  newerContents: StoredRecordCounts | null,
): string[] {
  if (!existsSync(previousDataFolder)) return [];
  const contents =
    newerContents === null
      ? 'It cannot be read.'
      : `Newer than the backup: ${describeContents(newerContents)}.`;
  return [`The replaced data is in ${previousDataFolder}. ${contents}`];
}
