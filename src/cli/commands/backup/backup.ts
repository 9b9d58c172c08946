/** `backup` copies a mirror in files to a folder, and verifies the copy. */
import { existsSync, renameSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineCommand } from '../../define-command.js';
import { createFileExistsError, createUsageError } from '../../command-error.js';
import { createProgress } from '../../output/progress.js';
import { makeRequired, defineText } from '../../options.js';
import {
  JSON_FORMAT,
  requireFileBackupStore,
  openFolder,
  verifyCopiedMirror,
  readContents,
  describeContents,
} from './copied-mirror.js';

/** The ending of a backup's folder until the backup was checked. */
const UNFINISHED = '.unfinished';
const KEEP_KEY_SEPARATELY = 'Store the signing key and its .last-signed file separately.';

export const BACKUP = defineCommand({
  summary: 'Write a verified backup to a new folder',
  details:
    'Copies inbox, evidence, mirror and certificates while they are in use, then checks the copy. ' +
    'Settings, private keys and webhook secrets are not copied. ' +
    'For a mirror in PostgreSQL, use pg_dump: the command prints the lines to run.',
  args: { folder: makeRequired(defineText('folder', 'the backup folder; must not exist yet')) },
  formats: JSON_FORMAT,
  examples: ['carbon-mirror backup /backup/2026-01-31'],
  run: async (context, { folder }) => {
    const keeping = requireFileBackupStore(context.requireMirror());
    if (existsSync(folder)) throw createFileExistsError(folder);
    /** A backup that was interrupted must not pass for one that was checked. */
    const unfinished = `${resolve(folder)}${UNFINISHED}`;
    if (existsSync(unfinished))
      throw createUsageError(
        `${unfinished} already exists: another backup was interrupted, or still runs.`,
        'If none runs, remove it.',
      );
    const showProgress = createProgress(context.io);
    showProgress(`Copying to ${unfinished}`);
    await keeping.copyTo(unfinished);
    const copy = openFolder(unfinished);
    const { certificates } = await verifyCopiedMirror(context, copy);
    const contents = await readContents(copy);
    renameSync(unfinished, folder);
    await context.printResult(
      { folder, certificates, ...contents },
      `Wrote and verified ${folder}: ${describeContents(contents)}, ${certificates} certificates.`,
      ...(context.requireMirror().env['EVIDENCE_KEY_FILE'] ? [KEEP_KEY_SEPARATELY] : []),
    );
  },
});
