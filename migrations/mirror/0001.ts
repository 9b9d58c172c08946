import { type Dialect, joined, type Part, raw } from '../schema.js';
import { BALANCE } from './0001/balance.js';
import { BOOKS, CERTIFICATE_FILES, KEEP_BYTES } from './0001/books.js';
import { CHANGES } from './0001/changes.js';
import { AS_TEXT, COUNTERS } from './0001/counters.js';
import { OF_NOW } from './0001/freshness.js';
import { MIRRORED } from './0001/mirrored.js';
import { SUMS } from './0001/sums.js';

export function mirror0001(engine: Dialect['engine']): Part {
  const isPostgres = engine === 'postgres';
  return joined([
    ...(isPostgres ? [raw(() => AS_TEXT)] : []),
    ...BOOKS,
    ...MIRRORED,
    raw(() => COUNTERS[engine]),
    ...(isPostgres ? [CERTIFICATE_FILES, KEEP_BYTES] : []),
    ...OF_NOW,
    ...SUMS,
    CHANGES,
    ...BALANCE,
  ]);
}
