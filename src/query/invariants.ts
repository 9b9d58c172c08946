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
  {
    law: 'the sums over retirements fit their rows',
    sql: `SELECT organization_id || ', ' || kind || ': summed ' || summed || ', found ' || found AS found FROM (
      SELECT s.organization_id, s.kind, sum(s.rows) AS summed,
        (SELECT count(*) FROM retirements AS r WHERE r.organization_id = s.organization_id) AS found
      FROM retirement_sums AS s GROUP BY s.organization_id, s.kind) WHERE summed <> found`,
  },
  {
    law: 'the counters of certificates fit their rows',
    sql: `SELECT c.organization_id || ', ' || c.state || ': counted ' || c.certificates AS found
      FROM certificate_sums AS c WHERE c.certificates <> (SELECT count(*) FROM certificates AS r
        WHERE r.organization_id = c.organization_id AND r.state = c.state)`,
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
  const same = key.map(name => `newer.${name} = older.${name}`).join(' AND ');
  const named = key.map(name => `older.${name}`).join(` || ', ' || `);
  return [
    {
      law: `each version of ${table} ends after it began`,
      sql: `SELECT ${named} AS found FROM ${table}_past AS older WHERE valid_to <= valid_from`,
    },
    {
      law: `no two versions of ${table} are true at once`,
      sql: `SELECT ${named} AS found FROM ${table}_past AS older JOIN ${table} AS newer ON ${same}
        WHERE older.valid_to > newer.valid_from`,
    },
  ];
}
