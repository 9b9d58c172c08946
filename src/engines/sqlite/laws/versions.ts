import { KEYS, type Law } from './law.js';

/** A clock may be corrected by so much without making a version impossible. */
const LEEWAY = '+60 seconds';
const INSTANT =
  '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9]Z';

export const VERSION_LAWS: readonly Law[] = [
  ...Object.entries(KEYS).flatMap(([table, key]) => lawsOf(table, key)),
  {
    law: 'no number of a version is used twice',
    sql: `SELECT 'version ' || version AS found FROM (${everyVersion()}) GROUP BY version HAVING count(*) > 1`,
  },
];

function lawsOf(table: string, key: readonly string[]): Law[] {
  const columns = key.join(', ');
  const named = key.join(` || ', ' || `);
  const history = `${table}_history`;
  return [
    {
      law: `each version of ${table} ends after it began`,
      sql: `SELECT ${named} AS found FROM ${table}_past WHERE valid_to <= valid_from`,
    },
    {
      law: `no two versions of ${table} are true at once`,
      sql: `SELECT ${named} AS found FROM (
          SELECT ${columns}, valid_from, lag(coalesce(valid_to, '9999')) OVER (
            PARTITION BY ${columns} ORDER BY valid_from, coalesce(valid_to, '9999')) AS ended
          FROM ${history} WHERE (${columns}) IN (SELECT ${columns} FROM ${table}_past)
        ) WHERE ended > valid_from`,
    },
    {
      law: `a version of ${table} that another took the place of ends where that begins`,
      sql: `SELECT ${named} AS found FROM (
          SELECT ${columns}, valid_to, closed_by,
            lead(valid_from) OVER versions AS next_from, lead(sync_run_id) OVER versions AS next_run
          FROM ${history} WHERE (${columns}) IN (SELECT ${columns} FROM ${table}_past)
          WINDOW versions AS (PARTITION BY ${columns} ORDER BY valid_from, coalesce(valid_to, '9999'))
        ) WHERE closed_by = next_run AND valid_to <> next_from`,
    },
    {
      law: `each version of ${table} has a number within the counter`,
      sql: `SELECT 'version ' || version AS found FROM ${history}
        WHERE version > (SELECT last FROM version_counter)`,
    },
    {
      law: `no version of ${table} is dated in the future`,
      sql: `SELECT ${named} AS found FROM ${history}
        WHERE max(valid_from, coalesce(valid_to, '')) > strftime('%Y-%m-%dT%H:%M:%fZ', :now, '${LEEWAY}')`,
    },
    {
      law: `each version of ${table} is dated by an instant`,
      sql: `SELECT ${named} AS found FROM ${history}
        WHERE valid_from NOT GLOB '${INSTANT}' OR valid_to NOT GLOB '${INSTANT}'`,
    },
  ];
}

function everyVersion(): string {
  return Object.keys(KEYS)
    .map(table => `SELECT version FROM ${table} UNION ALL SELECT version FROM ${table}_past`)
    .join(' UNION ALL ');
}
