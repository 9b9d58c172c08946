import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { StoreError } from '../errors.js';

/** Where the head of a database file keeps its application id, which here numbers its transactions. */
export const NUMBER_AT = 68;
const HEAD_BYTES = 100;
const LOG_HEAD_BYTES = 32;
const FRAME_HEAD_BYTES = 24;
const IS_LITTLE = endianness() === 'LE';
/** A checkpoint or a new log in between makes what was read worthless; it is read again. */
const TRIES = 5;

/**
 * A log is begun when the file holds everything before it. So the file's number is the one before the log's first,
 * or one of the log's own, once some of it was moved to the file. Any other file was put there by somebody else: the log
 * would write pages of one file over those of another. To be asked after the file was opened and before anything is read.
 */
export function demandOwnLog(file: string): void {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) < LOG_HEAD_BYTES) return;
  for (let left = TRIES; left > 0; left -= 1) {
    const fits = compare(file);
    if (fits === true) return;
    if (fits === false && left === 1) throw foreignLog(file);
  }
}

/** As large as a first page can be: a file is told to keep a log, by way of a journal, while it has no more. */
const FIRST_PAGE_BYTES = 65_536;
/** A copy that was put back is told so too, by whoever opens it first; that takes a moment. */
const MOMENT_MS = 100;

/** To be asked before SQLite sees the file: it would write the pages of a journal into it, whose ever they are. */
export function demandNoJournal(file: string): void {
  const stands = () => existsSync(`${file}-journal`);
  if (!stands() || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= FIRST_PAGE_BYTES) return;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MOMENT_MS);
  if (!stands()) return;
  const message = `${file}-journal is not of this program: SQLite would write what stands in it into ${file}.`;
  throw new StoreError('foreign_log', message, { file });
}

/** Null where somebody wrote meanwhile, or the file cannot be looked at. */
function compare(file: string): boolean | null {
  const descriptor = findDescriptor(file);
  const log = descriptor === null ? null : openLog(file);
  if (descriptor === null || log === null) return null;
  try {
    const before = readState(descriptor, log);
    const fits = isInLog(log, before.readUInt32BE(NUMBER_AT));
    return before.equals(readState(descriptor, log)) ? fits : null;
  } finally {
    closeSync(log);
  }
}

/** Whoever closes a database last takes its log away. */
function openLog(file: string): number | null {
  try {
    return openSync(`${file}-wal`, 'r');
  } catch (error) {
    if (existsSync(`${file}-wal`)) throw error;
    return null;
  }
}

/** The head of the file and that of the log: they change with every checkpoint and with every log begun. */
function readState(descriptor: number, log: number): Buffer {
  const state = Buffer.alloc(HEAD_BYTES + LOG_HEAD_BYTES);
  readSync(descriptor, state, 0, HEAD_BYTES, 0);
  readSync(log, state, HEAD_BYTES, LOG_HEAD_BYTES, 0);
  return state;
}

/** Whether a file of this number goes with the log; true too where the log never wrote the first page. */
function isInLog(log: number, number: number): boolean {
  let first: number | null = null;
  for (const written of numbersOf(log)) {
    first ??= written;
    if (first - 1 > number) return false;
    if (written >= number) return true;
  }
  return first === null || first - 1 === number;
}

/**
 * The numbers on the first page, as the log's transactions wrote it. A frame that was cut short, or belongs to an older
 * log, does not have the sum that goes on from the frame before it: there the log ends.
 */
function* numbersOf(log: number): Generator<number> {
  const head = Buffer.alloc(LOG_HEAD_BYTES);
  readSync(log, head, 0, LOG_HEAD_BYTES, 0);
  const frame = Buffer.alloc(FRAME_HEAD_BYTES + head.readUInt32BE(8));
  const isLittle = (head.readUInt32BE(0) & 1) === 0;
  let sum: Sum = [head.readUInt32BE(24), head.readUInt32BE(28)];
  for (
    let at = LOG_HEAD_BYTES;
    readSync(log, frame, 0, frame.length, at) === frame.length;
    at += frame.length
  ) {
    sum = addUp(frame.subarray(0, 8), isLittle, sum);
    sum = addUp(frame.subarray(FRAME_HEAD_BYTES), isLittle, sum);
    if (sum[0] !== frame.readUInt32BE(16) || sum[1] !== frame.readUInt32BE(20)) return;
    if (frame.readUInt32BE(0) === 1) yield frame.readUInt32BE(FRAME_HEAD_BYTES + NUMBER_AT);
  }
}

type Sum = readonly [number, number];

/** The checksum of SQLite's log format, over words in the order of whoever began the log. */
function addUp(bytes: Buffer, isLittle: boolean, [first, second]: Sum): Sum {
  const own = isLittle === IS_LITTLE ? bytes : Buffer.from(bytes).swap32();
  const words = new Int32Array(own.buffer, own.byteOffset, own.length / Int32Array.BYTES_PER_ELEMENT);
  let one = first | 0;
  let two = second | 0;
  for (let at = 0; at < words.length; at += 2) {
    one = (one + two + (words[at] ?? 0)) | 0;
    two = (two + one + (words[at + 1] ?? 0)) | 0;
  }
  return [one >>> 0, two >>> 0];
}

/**
 * The descriptor by which SQLite has the file open. One of our own would have to be closed again,
 * and that drops the locks that every connection of this process holds on the file.
 */
function findDescriptor(file: string): number | null {
  const wanted = statSync(file, { bigint: true });
  for (const name of readdirSync('/dev/fd')) {
    const found = statDescriptor(Number(name));
    if (found?.ino === wanted.ino && found.dev === wanted.dev) return Number(name);
  }
  return null;
}

/** The list of descriptors was read by one that is gone by now. */
function statDescriptor(descriptor: number) {
  try {
    return fstatSync(descriptor, { bigint: true });
  } catch {
    return null;
  }
}

function foreignLog(file: string): StoreError {
  const message = `${file} is not the file that the log beside it (${file}-wal) was written for: it was replaced while that log was there.`;
  return new StoreError('foreign_log', message, { file });
}
