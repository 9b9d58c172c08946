import { grantsTo, type Purpose, PURPOSES } from '../../store/contract/grants.js';
import type { Relation } from '../../store/contract/relation.js';
import { findEntry } from '../../resources/resources.js';
import { defineCommand } from '../command.js';
import { createUsageError } from '../exit.js';
import { writeStdout, type Io } from '../io.js';
import { missing } from '../../query/find-named.js';
import { createNameError } from '../find/name-error.js';
import { printDefinitions } from '../output/definitions.js';
import { defineChoice, defineText } from '../options.js';

export const SCHEMA = defineCommand({
  summary: 'Describe the tables, views and columns that queries can use',
  args: { name: defineText('name', 'only this table or view; with --grants, the role') },
  options: {
    grants: defineChoice(
      'purpose',
      'print the GRANT statements for a PostgreSQL role with this purpose',
      PURPOSES,
    ),
  },
  formats: { json: 'print it as JSON' },
  examples: [
    'carbon-mirror schema retirements',
    'carbon-mirror schema --grants read dashboards | psql "$MIRROR_DATABASE_URL"',
  ],
  run: async ({ io, format, findMirror, printJson, printNotice }, { name, grants }) => {
    if (grants !== undefined) return await writeStdout(io, grantsText(grants, name));
    const all = inOrderOfUse(findMirror().engine.describeSchema());
    const relations = name === undefined ? all : choose(all, name);
    if (format === 'json') return await printJson(relations);
    if (name !== undefined) return await showColumns(io, relations);
    const lines = relations.map(relation => [queryName(relation), relation.meaning] as const);
    await printDefinitions(io, lines);
    return printNotice('Use "carbon-mirror schema NAME" to show the columns of one.');
  },
});

function grantsText(purpose: Purpose, role: string | undefined): string {
  if (role !== undefined) return `${grantsTo(purpose, role).join('\n')}\n`;
  throw createUsageError(
    `Name the role that receives the grants: carbon-mirror schema --grants ${purpose} ROLE`,
  );
}

/** The name under which "carbon-mirror query" knows it. */
export function queryName(relation: Relation): string {
  return relation.database === 'inbox' ? `inbox.${relation.name}` : relation.name;
}

const OF_USE = ['syncs', 'resource_states', 'deliveries', 'jobs', 'rejected_webhooks', 'processes'];

/** What answers a question, what is mirrored, how it came there, what was before, and the bookkeeping. */
export function inOrderOfUse(relations: readonly Relation[]): readonly Relation[] {
  const rank = ({ kind, name }: Relation): number => {
    if (name.endsWith('_history')) return 3;
    if (name === 'past') return 4;
    if (kind === 'view') return name === 'freshness' ? -1 : 0;
    if (findEntry(name) !== undefined) return 1;
    return OF_USE.includes(name) ? 2 : 5;
  };
  return relations.toSorted((one, other) => rank(one) - rank(other));
}

function choose(relations: readonly Relation[], name: string): readonly Relation[] {
  const chosen = relations.filter(relation => relation.name === name || queryName(relation) === name);
  if (chosen.length > 0) return chosen;
  const known = relations.map(relation => ({ id: queryName(relation), name: null }));
  const sought = { what: 'table or view', where: 'in the schema' };
  throw createNameError(missing(name, known, sought), 'See "carbon-mirror schema" for all of them.');
}

async function showColumns(io: Io, relations: readonly Relation[]): Promise<void> {
  for (const relation of relations) {
    await printDefinitions(io, [[`${queryName(relation)} (${relation.kind})`, relation.meaning]]);
    await writeStdout(io, '\n');
    const widest = Math.max(...relation.columns.map(column => column.name.length));
    const lines = relation.columns.map(
      ({ name, type, meaning }) => [`${name.padEnd(widest)}  ${type}`, meaning] as const,
    );
    await printDefinitions(io, lines);
  }
}
