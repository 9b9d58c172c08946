// Copies the rows of mirrored organizations to further organizations by SQL, so that a fleet of any size takes seconds and no calls.
// The id of copy n of an organization ends in `~n`. Files of certificates are shared. The result passes all checks of `verify` (the data laws).

/** @typedef {{ name: string, columns: readonly { name: string }[] }} TableShape */

/** Columns whose numbers rise with every version of a row. */
const VERSION_COLUMNS = ['version', 'closed_version', 'retirement_version', 'changes_up_to'];
/** Columns that name a sync. */
const SYNC_COLUMNS = ['sync_id', 'closed_by', 'open_sync', 'fetch_sync_id'];
/** Columns that contain the id of an organization or of an installation. */
const OWNER_COLUMNS = ['organization_id', 'installation_id'];
/** Tables whose rows triggers write. */
const COUNTED_BY_TRIGGERS = ['certificate_sums'];
/** Tables whose column `id` is that of an organization or of an installation. */
const OWNERS = ['organizations', 'installations', 'awaited_installations'];

/**
 * @param {{ run: (sql: string) => Promise<unknown>, list: (sql: string) => Promise<Record<string, unknown>[]>, schema: string }} database
 * @param {readonly TableShape[]} tables of the mirror
 * @param {number} copies how many of each organization are added
 */
export async function copyOrganizations({ run, list, schema }, tables, copies) {
  const numberOf = async (/** @type {string} */ sql) => Number((await list(sql))[0]?.['n'] ?? 0);
  const versions = await numberOf(`SELECT last AS n FROM ${schema}version_counter`);
  const syncs = await numberOf(`SELECT max(id) AS n FROM ${schema}syncs`);
  const numbers = Array.from({ length: copies }, (_, n) => `SELECT ${n + 1} AS n`).join(' UNION ALL ');
  for (const { name, columns } of tables) {
    const all = columns.map(column => column.name);
    const isOwned = all.includes('organization_id') || OWNERS.includes(name);
    if (!isOwned || COUNTED_BY_TRIGGERS.includes(name)) continue;
    // Numbered by the database itself.
    const copied = name === 'unchanged_spans' ? all.filter(column => column !== 'id') : all;
    const values = copied.map(column => copyOf(name, column, { versions, syncs }));
    await run(`INSERT INTO ${schema}${name} (${copied.join(', ')})
      SELECT ${values.join(', ')} FROM ${schema}${name} AS t CROSS JOIN (${numbers}) AS c`);
  }
  await run(
    `UPDATE ${schema}certificate_mark SET retirement_version = retirement_version + ${copies * versions}`,
  );
  await run(`UPDATE ${schema}version_counter SET last = last * ${copies + 1}`);
}

/**
 * Returns the value of a column in copy `c.n` of a row `t`.
 * @param {string} table
 * @param {string} column
 * @param {{ versions: number, syncs: number }} highest
 */
function copyOf(table, column, { versions, syncs }) {
  const value = `t.${column}`;
  if (OWNER_COLUMNS.includes(column) || (column === 'id' && OWNERS.includes(table)))
    return `${value} || '~' || c.n`;
  if (VERSION_COLUMNS.includes(column)) return `${value} + c.n * ${versions}`;
  if (SYNC_COLUMNS.includes(column) || (column === 'id' && table === 'syncs'))
    return `${value} + c.n * ${syncs}`;
  return value;
}
