import { KEYS, type Law, type Say } from './law.js';

export function versionLaws(say: Say): readonly Law[] {
  return [
    ...Object.entries(KEYS).flatMap(([table, key]) => lawsOf(table, key, say)),
    {
      law: 'no number of a version is used twice',
      sql: `SELECT 'version ' || version AS found FROM (${everyVersion()} UNION ALL ${everyRemoval()}) AS numbers
        GROUP BY version HAVING count(*) > 1`,
    },
  ];
}

function lawsOf(table: string, key: readonly string[], { latest, larger, never }: Say): Law[] {
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
          SELECT ${columns}, valid_from, lag(coalesce(valid_to, ${never})) OVER (
            PARTITION BY ${columns} ORDER BY valid_from, coalesce(valid_to, ${never})) AS ended
          FROM ${history} WHERE (${columns}) IN (SELECT ${columns} FROM ${table}_past)
        ) AS v WHERE ended > valid_from`,
    },
    {
      law: `a version of ${table} that another took the place of ends where that begins`,
      sql: `SELECT ${named} AS found FROM (
          SELECT ${columns}, valid_to, closed_by,
            lead(valid_from) OVER versions AS next_from, lead(sync_id) OVER versions AS next_sync
          FROM ${history} WHERE (${columns}) IN (SELECT ${columns} FROM ${table}_past)
          WINDOW versions AS (PARTITION BY ${columns} ORDER BY valid_from, coalesce(valid_to, ${never}))
        ) AS v WHERE closed_by = next_sync AND valid_to <> next_from`,
    },
    {
      law: `each version of ${table} was closed at the number of the next, or before it`,
      sql: `SELECT ${named} AS found FROM (
          SELECT ${columns}, version, closed_version, closed_by,
            lead(version) OVER versions AS next, lead(sync_id) OVER versions AS next_sync
          FROM ${history} WHERE (${columns}) IN (SELECT ${columns} FROM ${table}_past)
          WINDOW versions AS (PARTITION BY ${columns} ORDER BY version)
        ) AS v WHERE closed_version <= version OR closed_version > next
          OR (closed_by = next_sync AND closed_version <> next)`,
    },
    {
      law: `each version of ${table} has a number within the counter`,
      sql: `SELECT 'version ' || version AS found FROM ${history}
        WHERE ${larger('version', 'closed_version')} > (SELECT last FROM version_counter)`,
    },
    {
      law: `no version of ${table} is dated in the future`,
      sql: `SELECT ${named} AS found FROM ${history}
        WHERE ${latest('valid_from', 'valid_to')} > :soon`,
    },
  ];
}

/** The numbers of closings after which there was no such row. */
function everyRemoval(): string {
  return Object.entries(KEYS)
    .map(([table, key]) => {
      const same = ['n.version = p.closed_version', ...key.map(column => `n.${column} = p.${column}`)];
      const next = (name: string) => `EXISTS (SELECT 1 FROM ${name} AS n WHERE ${same.join(' AND ')})`;
      return `SELECT closed_version FROM ${table}_past AS p WHERE NOT (${next(table)} OR ${next(`${table}_past`)})`;
    })
    .join(' UNION ALL ');
}

function everyVersion(): string {
  return Object.keys(KEYS)
    .map(table => `SELECT version FROM ${table} UNION ALL SELECT version FROM ${table}_past`)
    .join(' UNION ALL ');
}
