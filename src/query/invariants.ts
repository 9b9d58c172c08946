import type { Sqlite } from '../database/open.js';

/** One law of the databases and the first rows that break it. */
export interface Broken {
  readonly law: string;
  readonly where: string;
}

const SHOWN = 5;

const KEYS: Readonly<Record<string, readonly string[]>> = {
  installations: ['id'],
  organizations: ['id'],
  projects: ['id'],
  warehouse_credits: ['organization_id', 'credit_id', 'inventory_id'],
  inventory_credits: ['organization_id', 'credit_id', 'inventory_id'],
  reservations: ['organization_id', 'id'],
  inventory_requests: ['organization_id', 'id'],
  retirements: ['organization_id', 'id'],
  members: ['organization_id', 'id'],
  addresses: ['organization_id', 'id'],
  certificates: ['organization_id', 'retirement_id'],
};

const COUNTED: Readonly<Record<string, string>> = {
  warehouse: 'warehouse_credits',
  inventory: 'inventory_credits',
  reservations: 'reservations',
  inventory_requests: 'inventory_requests',
  retirements: 'retirements',
  members: 'members',
  addresses: 'addresses',
};

interface Law {
  readonly law: string;
  /** Answers one column `found` for each row that breaks the law. */
  readonly sql: string;
}

/** What must hold in any mirror at any moment, whatever the registry said. */
export function findBroken(db: Sqlite): Broken[] {
  return [...structure(db), ...LAWS.flatMap(law => breaks(db, law))];
}

function structure(db: Sqlite): Broken[] {
  const found: Broken[] = [];
  for (const name of ['main', 'inbox'] as const) {
    const answers = db.prepare<[], string>(`PRAGMA ${name}.integrity_check(${SHOWN})`).pluck().all();
    for (const answer of answers) {
      if (answer !== 'ok') found.push({ law: `SQLite finds ${fileOf(name)} whole`, where: answer });
    }
    const foreign = db.prepare<[], { table: string }>(`PRAGMA ${name}.foreign_key_check`).all();
    for (const { table } of foreign.slice(0, SHOWN)) {
      found.push({ law: `foreign keys of ${fileOf(name)} are kept`, where: table });
    }
  }
  return found;
}

function fileOf(name: 'main' | 'inbox'): string {
  return name === 'main' ? 'mirror.db' : 'inbox.db';
}

function breaks(db: Sqlite, { law, sql }: Law): Broken[] {
  return db
    .prepare<[], { found: string }>(`${sql} LIMIT ${SHOWN}`)
    .all()
    .map(({ found }) => ({ law, where: found }));
}

const LAWS: readonly Law[] = [
  ...Object.entries(KEYS).flatMap(([table, key]) => versionLaws(table, key)),
  ...Object.entries(COUNTED).map(([resource, table]) => ({
    law: `the counter of ${resource} fits its rows`,
    sql: `SELECT s.organization_id || ': counted ' || s.rows || ', found ' || count(t.version) AS found
      FROM resource_states AS s LEFT JOIN ${table} AS t ON t.organization_id = s.organization_id
      WHERE s.resource = '${resource}' AND s.open_run IS NULL
      GROUP BY s.organization_id, s.rows HAVING s.rows <> count(t.version)`,
  })),
  sumsLaw('beneficiary', "coalesce(beneficiary, '')"),
  sumsLaw('month', "coalesce(substr(created_at, 1, 7), '')"),
  {
    law: 'the counters of certificates fit their rows',
    sql: differ(
      'SELECT organization_id, state, count(*) FROM certificates GROUP BY organization_id, state',
      'SELECT organization_id, state, certificates FROM certificate_sums WHERE certificates <> 0',
      "organization_id || ', ' || state",
    ),
  },
  {
    law: 'a certificate belongs to a retirement that is there',
    sql: `SELECT organization_id || ', ' || retirement_id AS found FROM certificates AS c WHERE NOT EXISTS (
      SELECT 1 FROM retirements AS r WHERE r.organization_id = c.organization_id AND r.id = c.retirement_id)`,
  },
  {
    law: 'a retirement up to the mark has its certificate entered',
    sql: `SELECT organization_id || ', ' || id AS found FROM retirements AS r
      WHERE version <= (SELECT retirement_version FROM certificate_mark) AND NOT EXISTS (
        SELECT 1 FROM certificates AS c WHERE c.organization_id = r.organization_id AND c.retirement_id = r.id)`,
  },
  {
    law: 'a remembered page holds whole version numbers',
    sql: `SELECT organization_id || ', ' || resource || ', page ' || page AS found FROM read_pages
      WHERE length(versions) % 8 <> 0`,
  },
  {
    law: 'no claim that the mirror has seen is above the counter of the inbox',
    sql: `SELECT organization_id || ', ' || lane || ': ' || claim AS found FROM fences
      WHERE claim > (SELECT last FROM inbox.claims)`,
  },
  {
    law: 'an accepted delivery has its job, as long as that is kept',
    sql: `SELECT 'delivery ' || id AS found FROM inbox.deliveries WHERE verdict = 'accepted' AND job_id IS NULL`,
  },
  {
    law: 'no two claims are live for one installation and lane',
    sql: `SELECT installation_id || ', ' || lane AS found FROM inbox.jobs
      WHERE state = 'claimed' AND claimed_until > strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AND installation_id IS NOT NULL
      GROUP BY installation_id, lane HAVING count(*) > 1`,
  },
];

function versionLaws(table: string, key: readonly string[]): Law[] {
  const columns = key.join(', ');
  const named = key.join(` || ', ' || `);
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
          FROM ${table}_history WHERE (${columns}) IN (SELECT ${columns} FROM ${table}_past)
        ) WHERE ended > valid_from`,
    },
    {
      law: `each version of ${table} has a number of its own, within the counter`,
      sql: `SELECT 'version ' || version AS found FROM ${table}
        WHERE version IN (SELECT version FROM ${table}_past) OR version > (SELECT last FROM version_counter)`,
    },
  ];
}

/** Whole tonnes and millionths beyond are added apart, as they are kept. */
function sumsLaw(kind: string, value: string): Law {
  return {
    law: `the sums of retirements by ${kind} fit their rows`,
    sql: differ(
      `SELECT organization_id, ${value} AS value, count(*), count(*) - count(amount_micro),
        coalesce(sum(amount_micro / 1000000), 0), coalesce(sum(amount_micro % 1000000), 0)
      FROM retirements GROUP BY organization_id, ${value}`,
      `SELECT organization_id, value, rows, rows_not_summed, tonnes, micro
      FROM retirement_sums WHERE kind = '${kind}' AND rows <> 0`,
      "organization_id || ', ' || value",
    ),
  };
}

/** What stands in only one of two selections. */
function differ(one: string, other: string, named: string): string {
  return `SELECT DISTINCT ${named} AS found FROM (
    SELECT * FROM (${one} EXCEPT ${other}) UNION ALL SELECT * FROM (${other} EXCEPT ${one}))`;
}
