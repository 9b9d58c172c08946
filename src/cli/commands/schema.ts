import { buildGrantStatements, type DatabaseRolePurpose, PURPOSES } from '../../store/contract/grants.js';
import type { Relation } from '../../store/contract/describe-schema.js';
import { findEntry } from '../../resources/resources.js';
import { defineCommand } from '../define-command.js';
import { createUsageError } from '../command-error.js';
import { writeStdout, type Io } from '../io.js';
import { getQualifiedName } from '../../query/sql-names.js';
import { reportMissingName } from '../../query/names.js';
import { createNameError } from '../find-rows.js';
import { printDefinitions } from '../output/definitions.js';
import { defineChoice, defineText } from '../options.js';

export const SCHEMA = defineCommand({
  summary: 'Describe the tables, views and columns that queries can use',
  args: { name: defineText('name', 'only this table or view; with --grants, the name of the role') },
  options: {
    grants: defineChoice(
      'purpose',
      'print the GRANT statements for a PostgreSQL role with this purpose',
      PURPOSES,
    ),
  },
  formats: { json: 'print as JSON' },
  examples: [
    'carbon-mirror schema retirements',
    'carbon-mirror schema --grants read dashboards | psql "$MIRROR_DATABASE_URL"',
  ],
  run: async ({ io, format, findMirror, printJson, printNotice }, { name, grants }) => {
    if (grants !== undefined) return await writeStdout(io, formatGrants(grants, name));
    const all = sortRelations(findMirror().engine.describeSchema());
    const relations = name === undefined ? all : findRelations(all, name);
    if (format === 'json') return await printJson(relations);
    if (name !== undefined) return await printColumns(io, relations);
    const lines = relations.map(relation => [getQualifiedName(relation), relation.meaning] as const);
    await printDefinitions(io, lines);
    return printNotice('Use "carbon-mirror schema NAME" to show the columns of one.');
  },
});

/** Returns the GRANT statements that a database role needs for a purpose such as `read`. */
function formatGrants(purpose: DatabaseRolePurpose, role: string | undefined): string {
  if (role !== undefined) return `${buildGrantStatements(purpose, role).join('\n')}\n`;
  throw createUsageError(
    `Name the role that receives the grants: carbon-mirror schema --grants ${purpose} ROLE`,
  );
}

const OPERATIONAL_TABLES = [
  'syncs',
  'resource_states',
  'deliveries',
  'jobs',
  'orders',
  'rejected_webhooks',
  'processes',
];

/** Sorts relations in this order: views, mirrored tables, operational tables, history, internal tables. */
export function sortRelations(relations: readonly Relation[]): readonly Relation[] {
  const rank = ({ kind, name }: Relation): number => {
    if (name.endsWith('_history')) return 3;
    if (name === 'past') return 4;
    if (kind === 'view') return name === 'freshness' ? -1 : 0;
    if (findEntry(name) !== undefined) return 1;
    return OPERATIONAL_TABLES.includes(name) ? 2 : 5;
  };
  return relations.toSorted((left, right) => rank(left) - rank(right));
}

/** Returns the tables and views with this name. Throws a not-found error if there are none. */
function findRelations(relations: readonly Relation[], name: string): readonly Relation[] {
  const found = relations.filter(relation => relation.name === name || getQualifiedName(relation) === name);
  if (found.length > 0) return found;
  const names = relations.map(relation => ({ id: getQualifiedName(relation), name: null }));
  const subject = { what: 'table or view', where: 'in the schema' };
  throw createNameError(
    reportMissingName(name, names, subject),
    'See "carbon-mirror schema" for all of them.',
  );
}

/** Prints each table or view with the name, type and meaning of every column. */
async function printColumns(io: Io, relations: readonly Relation[]): Promise<void> {
  for (const relation of relations) {
    await printDefinitions(io, [[`${getQualifiedName(relation)} (${relation.kind})`, relation.meaning]]);
    await writeStdout(io, '\n');
    const widest = Math.max(...relation.columns.map(column => column.name.length));
    const lines = relation.columns.map(
      ({ name, type, meaning }) => [`${name.padEnd(widest)}  ${type}`, meaning] as const,
    );
    await printDefinitions(io, lines);
  }
}
