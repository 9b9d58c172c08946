import { readFileSync, statSync } from 'node:fs';
import { type Finding, ok, warn } from '../contract/finding.js';
import { walBytes } from './disk.js';
import { readLogState } from './log-state.js';
import type { Sqlite } from './open.js';
import type { Files } from './open-both.js';

/** The logs of both databases, and who holds one back. */
export function checkLogs(db: Sqlite, { mirrorFile, inboxFile }: Files): Finding[] {
  return [checkLog(db, 'main', mirrorFile), checkLog(db, 'inbox', inboxFile)];
}

function checkLog(db: Sqlite, schema: string, file: string): Finding {
  const { held, unmovedBytes } = readLogState(db, schema);
  const size = `${file}-wal has ${mebibytes(walBytes(file))}`;
  if (!held) return ok('log', `${size}, and nobody holds it back`);
  const readers = findReaders(file);
  const names = readers.map(pid => `process ${pid}${nameOf(pid)}`).join(', ') || 'one';
  const todo =
    'It grows for as long as that transaction is open: end it. ' +
    `"ps -o pid,lstart,args -p ${readers.join(',') || 'PID'}" says what it is and since when it runs.`;
  const found = `${size}: a reader that has not ended holds ${mebibytes(unmovedBytes)} back: ${names}`;
  return warn('log', found, todo);
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}

/** Where SQLite locks a byte of the file beside the log for as long as a transaction reads. */
const FIRST_READER = 123;
const LAST_READER = 127;
const HELD_LOCK = /^\d+: POSIX\s+\w+\s+(?:READ|WRITE)\s+(\d+)\s+[\da-f]+:[\da-f]+:(\d+)\s+(\d+)\s+(\d+)$/gm;

/** Ids of the processes that read at this moment; none where the system does not tell. */
function findReaders(file: string): number[] {
  const inode = statSync(`${file}-shm`, { throwIfNoEntry: false })?.ino;
  const locks = Array.from(readText('/proc/locks').matchAll(HELD_LOCK), match => match.slice(1).map(Number));
  const pids = locks.flatMap(([pid = 0, locked, from = 0, to = 0]) =>
    pid > 0 && locked === inode && from <= LAST_READER && to >= FIRST_READER ? [pid] : [],
  );
  return [...new Set(pids)];
}

function nameOf(pid: number): string {
  const name = readText(`/proc/${pid}/comm`).trim();
  return name === '' ? '' : ` (${name})`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
