import { type Dialect, joined, performSteps } from '../schema.js';
import { BALANCE } from './0001/balance.js';
import { ANNOUNCEMENTS, BOOKS, PIECES } from './0001/books.js';
import { CHANGES } from './0001/changes.js';
import { AS_TEXT, COUNTERS, TELL_OF_CHANGES } from './0001/counters.js';
import { OF_NOW } from './0001/freshness.js';
import { MIRRORED } from './0001/mirrored.js';
import { SUMS } from './0001/sums.js';

export function mirror0001(dialect: Dialect): string {
  const { engine } = dialect;
  const isPostgres = engine === 'postgres';
  const parts = [
    ...(isPostgres ? [performSteps('mirror'), () => AS_TEXT] : []),
    ...BOOKS,
    ...MIRRORED,
    () => COUNTERS[engine],
    isPostgres ? PIECES : ANNOUNCEMENTS,
    ...OF_NOW,
    ...SUMS,
    CHANGES,
    ...BALANCE,
    ...(isPostgres ? [() => TELL_OF_CHANGES] : []),
  ];
  return joined(parts)(dialect);
}
