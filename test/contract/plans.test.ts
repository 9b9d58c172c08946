import { describe, expect, test } from 'vitest';
import { listRelations } from '../../src/store/migrations.js';
import { type StatementWithValues, POSTGRES, SQLITE } from '../../src/store/dialect.js';
import { LAWS } from '../../src/store/laws/check-laws.js';
import { fillAgedMirror } from '../support/mirror/aged.js';
import { ENGINES } from '../support/mirror/open.js';
import type { Tables } from '../support/tables.js';

const GROWING = ['past', 'syncs', 'unchanged_spans'];

interface SqliteStep {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** Returns the names by which the tables that grow with age are called in a statement. */
function listAliases(sql: string): Set<string> {
  const aliases = new Set(GROWING);
  for (const [, alias] of sql.matchAll(new RegExp(`(?:${GROWING.join('|')})"? AS "?(\\w+)`, 'gi')))
    if (alias !== undefined) aliases.add(alias);
  return aliases;
}

interface View {
  readonly name: string;
  readonly sql: string;
}

/** Returns a statement with the texts of all views that it reads, also through other views. */
function includeViews(text: string, views: readonly View[]): string {
  const isNamed = ({ name }: View) => new RegExp(`\\b${name}\\b`).test(text);
  const named = views.filter(isNamed);
  if (named.length === 0) return text;
  const others = views.filter(view => !isNamed(view));
  return includeViews([text, ...named.map(({ sql }) => sql)].join('\n'), others);
}

/** Returns the steps that scan a growing table once for each row of another table, or of the query around them. */
async function findRepeatedScansInSqlite(
  tables: Tables,
  { text, values }: StatementWithValues,
  views: readonly View[],
): Promise<string[]> {
  const aliases = listAliases(includeViews(text, views));
  const steps = await tables.rows<SqliteStep>(`EXPLAIN QUERY PLAN ${text}`, ...values);
  // An index on `resource` alone finds nearly all rows.
  const isTableScan = ({ detail }: SqliteStep) =>
    aliases.has(
      /^SCAN (\w+)|^SEARCH (\w+) .*\(resource=\?\)( LEFT-JOIN)?$/.exec(detail)?.slice(1, 3).find(Boolean) ??
        '',
    );
  const isLoop = ({ detail }: SqliteStep) => /^(SCAN|SEARCH) /.test(detail);
  const byId = new Map(steps.map(step => [step.id, step]));
  const isCorrelated = (step: SqliteStep): boolean => {
    const parent = byId.get(step.parent);
    return parent !== undefined && (parent.detail.startsWith('CORRELATED') || isCorrelated(parent));
  };
  return steps
    .filter(step => {
      if (!isTableScan(step)) return false;
      const siblings = steps.filter(other => other.parent === step.parent && isLoop(other));
      return siblings[0] !== step || isCorrelated(step);
    })
    .map(({ detail }) => detail);
}

interface PostgresNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Parent Relationship'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly Plans?: readonly PostgresNode[];
}

/** An index on `resource` alone is no scan for a resource of which there are only so many rows. */
const FEW_ROWS = 1000;

interface RowCount {
  /** The name of a table that grows with age, or of an index of one. */
  readonly name: string;
  /** Null for an index. */
  readonly resource: string | null;
  readonly rows: number;
}

/** Returns the number of rows of each resource in the tables that grow with age, and the number in each index. */
async function countRows(tables: Tables): Promise<RowCount[]> {
  const counts = GROWING.map(
    name => `SELECT '${name}' AS name, resource, count(*) AS rows FROM ${name} GROUP BY resource`,
  );
  const indexes = `SELECT c.relname, NULL, c.reltuples FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE i.indrelid IN (${GROWING.map(name => `'${name}'::regclass`).join(', ')})`;
  return await tables.rows<RowCount>([...counts, indexes].join(' UNION ALL '));
}

/**
 * Whether a node reads nearly a whole table: it searches no index, or one for the resource alone, which nearly all rows have.
 * The table tells how many rows are read, because a plan has only the number that remain after the filter.
 */
function isScan(node: PostgresNode, counts: readonly RowCount[]): boolean {
  const table = node['Relation Name'];
  if (!GROWING.includes(table ?? '')) return false;
  const condition = node['Index Cond'] ?? node['Recheck Cond'];
  const resource = /^\(\w*\.?resource = '(\w+)'::text(?: COLLATE "C")?\)$/.exec(condition ?? '')?.[1];
  if (condition !== undefined && resource === undefined) return false;
  const name = condition === undefined ? (node['Index Name'] ?? table) : table;
  const read = counts.filter(count => count.name === name && (!resource || count.resource === resource));
  return read.reduce((sum, { rows }) => sum + rows, 0) >= FEW_ROWS;
}

function findRepeatedScansInPlan(
  node: PostgresNode,
  counts: readonly RowCount[],
  isRepeated = false,
): string[] {
  const table = node['Relation Name'];
  const found = isRepeated && isScan(node, counts) ? [`${node['Node Type']} on ${table}`] : [];
  const children = node.Plans ?? [];
  return found.concat(
    children.flatMap((child, index) => {
      const isInner = node['Node Type'] === 'Nested Loop' && index === 1;
      // A hashed subplan runs once; another one for each row.
      const isSubplan = child['Parent Relationship'] === 'SubPlan' && !/hashed/.test(JSON.stringify(node));
      const runsOnce = child['Parent Relationship'] === 'InitPlan' || child['Node Type'] === 'Hash';
      return findRepeatedScansInPlan(child, counts, (isRepeated && !runsOnce) || isInner || isSubplan);
    }),
  );
}

async function explain(tables: Tables, { text, values }: StatementWithValues): Promise<PostgresNode> {
  const [row] = await tables.rows<{ 'QUERY PLAN': readonly { readonly Plan: PostgresNode }[] }>(
    `EXPLAIN (FORMAT JSON) ${text}`,
    ...values,
  );
  const plan = row?.['QUERY PLAN'][0]?.Plan;
  if (plan === undefined) throw new Error('PostgreSQL returned no plan');
  return plan;
}

/** Scans a growing table once for each credit. Few rows remain after the filter. */
const REPEATED_SCAN: StatementWithValues = {
  text: 'SELECT (SELECT count(*) FROM past AS p WHERE p.document = c.document) FROM warehouse_credits AS c',
  values: [],
};

/** Tables with rows of every organization. */
const OWNED = ['installations', 'organizations', 'resource_states'];

/** Returns the steps of a plan that read the rows of all organizations. */
async function findWholeReads(tables: Tables, sql: string, isSqlite: boolean): Promise<string[]> {
  if (isSqlite) {
    const steps = await tables.rows<SqliteStep>(`EXPLAIN QUERY PLAN ${sql}`);
    const unindexed = new RegExp(
      `^SCAN (${OWNED.join('|')}|[ikr])\\b|^SEARCH (${OWNED.join('|')}|r) .*\\(resource=\\?\\)$`,
    );
    return steps.filter(({ detail }) => unindexed.test(detail)).map(({ detail }) => detail);
  }
  const listNodes = (node: PostgresNode): PostgresNode[] => [node, ...(node.Plans ?? []).flatMap(listNodes)];
  return listNodes(await explain(tables, { text: sql, values: [] }))
    .filter(node => OWNED.includes(node['Relation Name'] ?? '') && !node['Index Cond'])
    .map(node => `${node['Node Type']} on ${node['Relation Name']}`);
}

describe.each(ENGINES)('on a mirror of 90 days, $name', engine => {
  test('freshness of a few organizations reads the rows of no other', async () => {
    const isSqlite = engine.name === 'SQLite';
    const { tables } = await engine.library();
    for (const table of ['installations', 'syncs', 'resource_states'])
      await tables.change(`DELETE FROM ${table}`);
    await fillAgedMirror(tables, isSqlite ? 'sqlite' : 'postgres', {
      organizations: 1_000,
      pastVersions: 1_000,
      days: 9,
      readsPerDay: 1,
    });
    await tables.change('ANALYZE');
    const conditions = [
      "organization_id = 'organization-7'",
      "resource = 'warehouse' AND organization_id IN ('organization-7', 'organization-8', 'organization-9')",
    ];
    for (const condition of conditions) {
      const sql = `SELECT * FROM freshness WHERE ${condition}`;
      expect([condition, ...(await findWholeReads(tables, sql, isSqlite))]).toEqual([condition]);
    }
  });

  test('no law, finding or view scans a table that grows with age once for each row of another', async () => {
    const isSqlite = engine.name === 'SQLite';
    const { tables } = await engine.library();
    for (const table of ['installations', 'syncs', 'resource_states'])
      await tables.change(`DELETE FROM ${table}`);
    await fillAgedMirror(tables, isSqlite ? 'sqlite' : 'postgres', {
      organizations: 50,
      pastVersions: 50_000,
      readsPerDay: 2,
      readRows: true,
    });
    const views = listRelations(isSqlite ? 'sqlite' : 'postgres', 'mirror')
      .filter(({ kind }) => kind === 'view')
      .map(({ name }) => name.replace('mirror.', ''));
    expect(views).toContain('findings');
    const viewTexts = isSqlite
      ? await tables.rows<View>("SELECT name, sql FROM sqlite_master WHERE type = 'view'")
      : [];
    const now = new Date().toISOString();
    const dialect = isSqlite ? SQLITE : POSTGRES;
    const statements = [
      ...LAWS.map(({ rule, findViolations }) => ({
        name: rule,
        ...findViolations({ now, soon: now }).bind(dialect),
      })),
      ...views.map(view => ({ name: view, text: `SELECT * FROM ${view}`, values: [] })),
    ];
    const counts = isSqlite ? [] : await countRows(tables);
    const findRepeatedScans = async (statement: StatementWithValues) =>
      isSqlite
        ? await findRepeatedScansInSqlite(tables, statement, viewTexts)
        : findRepeatedScansInPlan(await explain(tables, statement), counts);
    expect(await findRepeatedScans(REPEATED_SCAN)).not.toEqual([]);
    const slow: Record<string, string[]> = {};
    for (const { name, ...statement } of statements) {
      const scans = await findRepeatedScans(statement);
      if (scans.length > 0) slow[name] = scans;
    }
    expect(slow).toEqual({});
  });
});
