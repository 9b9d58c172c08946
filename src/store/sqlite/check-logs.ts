import { type Finding, ok, warn } from '../contract/finding.js';
import { getLogSize } from './measure-disk.js';
import { readLogState } from './log-state.js';
import type { Sqlite } from './open-database.js';
import type { Files } from './open-read-only.js';

/** Reports the size of both write-ahead logs, and whether an open transaction keeps one from shrinking. */
export function checkLogs(db: Sqlite, { mirrorFile, inboxFile }: Files): Finding[] {
  return [checkLog(db, 'main', mirrorFile), checkLog(db, 'inbox', inboxFile)];
}

function checkLog(db: Sqlite, schema: string, file: string): Finding {
  const { held, unmovedBytes } = readLogState(db, schema);
  const size = `${file}-wal has ${formatMebibytes(getLogSize(file))}`;
  if (!held) return ok('log', `${size}, and nothing keeps it from shrinking`);
  return warn(
    'log',
    `${size}: a transaction that is still open keeps ${formatMebibytes(unmovedBytes)} of it from being removed`,
    `The log grows until that transaction ends. "fuser -v ${file}-shm" lists the processes that have the database open: end the one that reads for so long.`,
  );
}

function formatMebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
