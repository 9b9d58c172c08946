import { KEYS, type Law, type Say } from '../../laws/law.js';

const INSTANT =
  '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9]Z';

/** Instants are texts of one form. */
export const SAY: Say = {
  latest: (...columns) => `max(${columns.map(column => `coalesce(${column}, '')`).join(', ')})`,
  larger: (one, other) => `max(${one}, coalesce(${other}, 0))`,
  never: "'9999'",
  dayBefore: instant => `strftime('%Y-%m-%dT%H:%M:%fZ', ${instant}, '-1 day')`,
  newestSync: "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'syncs'), 0)",
};

/** Elsewhere their type says so. */
export const INSTANT_LAWS: readonly Law[] = Object.entries(KEYS).map(([table, key]) => ({
  law: `each version of ${table} is dated by an instant`,
  sql: `SELECT ${key.join(` || ', ' || `)} AS found FROM ${table}_history
    WHERE valid_from NOT GLOB '${INSTANT}' OR valid_to NOT GLOB '${INSTANT}'`,
}));
