import { type Finding, ok, warn } from '../contract/finding.js';
import { getWalSize } from './measure-disk.js';
import { readWalState } from './wal-state.js';
import type { Sqlite } from './open-database.js';
import type { DatabaseFiles } from './open-read-only.js';

/** Reports the size of both write-ahead logs, and whether an open transaction prevents one from being emptied. */
export function checkWals(db: Sqlite, { mirrorFile, inboxFile }: DatabaseFiles): Finding[] {
  return [checkWal(db, 'main', mirrorFile), checkWal(db, 'inbox', inboxFile)];
}

/**
 * Reports the size of one write-ahead log, and warns if an open transaction prevents it from being emptied. `schema` is the name
 * of the database on the connection `db`.
 */
function checkWal(db: Sqlite, schema: string, file: string): Finding {
  const { held, unmovedBytes } = readWalState(db, schema);
  const size = `${file}-wal has ${formatMebibytes(getWalSize(file))}`;
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
