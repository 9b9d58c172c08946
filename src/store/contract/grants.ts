/** The purposes of PostgreSQL roles. */
export const PURPOSES = ['receive', 'work', 'console', 'read', 'api'] as const;
export type DatabaseRolePurpose = (typeof PURPOSES)[number];

/** The privileges for each purpose. The role that migrates owns the schemas and needs none. */
const PRIVILEGES: Readonly<Record<DatabaseRolePurpose, readonly string[]>> = {
  receive: [
    'USAGE ON SCHEMA inbox',
    'SELECT ON ALL TABLES IN SCHEMA inbox',
    'INSERT, UPDATE ON inbox.deliveries, inbox.signed_texts, inbox.jobs',
    'INSERT, UPDATE, DELETE ON inbox.processes, inbox.rejected_webhooks',
  ],
  work: [
    'USAGE ON SCHEMA inbox, mirror, evidence, events',
    'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA inbox, mirror, events',
    'SELECT, INSERT ON ALL TABLES IN SCHEMA evidence',
    'UPDATE ON evidence.sealer',
    'UPDATE (salt, record, subject, ended, observed, dated, micro, read_at, is_complete, code, plain_code) ON evidence.leaves',
  ],
  console: [
    'USAGE ON SCHEMA inbox, mirror',
    'SELECT ON ALL TABLES IN SCHEMA inbox, mirror',
    'INSERT, UPDATE ON inbox.jobs',
    'INSERT ON inbox.orders',
  ],
  read: ['USAGE ON SCHEMA inbox, mirror', 'SELECT ON ALL TABLES IN SCHEMA inbox, mirror'],
  api: [
    'USAGE ON SCHEMA inbox, mirror',
    'SELECT ON ALL TABLES IN SCHEMA inbox, mirror',
    'UPDATE (last_used_at) ON inbox.tokens',
  ],
};

const SUPERUSER_HINT = '-- For SQL queries, a superuser must also do what "carbon-mirror doctor" says.';

/**
 * Returns the GRANT statements that give a PostgreSQL role the privileges for its purpose. Run the statements again after an upgrade,
 * because an upgrade may add tables.
 */
export function buildGrantStatements(purpose: DatabaseRolePurpose, role: string): string[] {
  const name = `"${role.replaceAll('"', '""')}"`;
  const grants = PRIVILEGES[purpose].map(privilege => `GRANT ${privilege} TO ${name};`);
  return purpose === 'read' ? [...grants, SUPERUSER_HINT] : grants;
}
