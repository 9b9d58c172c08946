import { grantsTo, PURPOSES, type Purpose } from '../../store/contract/grants.js';
import { describeSchema, type Relation } from '../../store/contract/relation.js';
import { findEntry } from '../../resources/resources.js';
import { command } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { emit, type Io } from '../io.js';
import { notThere } from '../find/choose.js';
import { writeWrapped } from '../output/wrapped.js';
import { ownLocation } from '../connect/find-mirror.js';
import { choice, flag, text } from '../taken.js';

export const SCHEMA = command({
  says: 'Show the tables, views and columns that queries may use, and what each means',
  words: { name: text('name', 'show one table or view only; with --grants the role') },
  options: {
    markdown: flag('print it as the document docs/schema.md'),
    grants: choice('purpose', 'print what PostgreSQL is to grant a role that does this', PURPOSES),
  },
  prints: { json: 'print it as JSON' },
  examples: [
    'carbon-mirror schema',
    'carbon-mirror schema retirements',
    'carbon-mirror schema --markdown > docs/schema.md',
    'carbon-mirror schema --grants read dashboards | psql "$MIRROR_DATABASE_URL"',
  ],
  run: async ({ io, format, value, say }, { name, markdown, grants }) => {
    if (grants !== undefined) return await emit(io, grantsText(grants, name));
    const relations = choose(inOrderOfUse(ownLocation(io).engine.describeSchema()), name);
    if (format === 'json') return await value(relations);
    if (markdown) return await emit(io, asDocument(relations));
    if (name !== undefined) return await showColumns(io, relations);
    await writeWrapped(
      io,
      relations.map(relation => [queryName(relation), relation.meaning]),
    );
    say('"carbon-mirror schema NAME" shows the columns of one.');
    return undefined;
  },
});

function grantsText(purpose: Purpose, role: string | undefined): string {
  if (role !== undefined) return `${grantsTo(purpose, role).join('\n')}\n`;
  throw new CommandFault(
    EXIT.usage,
    `Name the role that gets the grant: carbon-mirror schema --grants ${purpose} ROLE`,
  );
}

/** The name under which "carbon-mirror query" knows it. */
function queryName(relation: Relation): string {
  return relation.database === 'inbox' ? `inbox.${relation.name}` : relation.name;
}

const OF_USE = ['syncs', 'resource_states', 'deliveries', 'jobs', 'rejected_webhooks', 'processes'];

/** What answers a question, what is mirrored, how it came there, what was before, and the bookkeeping. */
function inOrderOfUse(relations: readonly Relation[]): readonly Relation[] {
  const rank = ({ kind, name }: Relation): number => {
    if (name.endsWith('_history')) return 3;
    if (name.endsWith('_past')) return 4;
    if (kind === 'view') return name === 'freshness' ? -1 : 0;
    if (findEntry(name) !== undefined) return 1;
    return OF_USE.includes(name) ? 2 : 5;
  };
  return relations.toSorted((one, other) => rank(one) - rank(other));
}

function choose(relations: readonly Relation[], name: string | undefined): readonly Relation[] {
  if (name === undefined) return relations;
  const chosen = relations.filter(relation => relation.name === name || queryName(relation) === name);
  if (chosen.length > 0) return chosen;
  throw notThere(
    name,
    relations.map(relation => ({ id: queryName(relation), name: null })),
    { what: 'table or view', where: 'in the schema', advice: 'See "carbon-mirror schema" for all of them.' },
  );
}

async function showColumns(io: Io, relations: readonly Relation[]): Promise<void> {
  for (const relation of relations) {
    await writeWrapped(io, [[`${queryName(relation)} (${relation.kind})`, relation.meaning]]);
    await emit(io, '\n');
    const widest = Math.max(...relation.columns.map(column => column.name.length));
    await writeWrapped(
      io,
      relation.columns.map(({ name, type, meaning }) => [`${name.padEnd(widest)}  ${type}`, meaning]),
    );
  }
}

type Column = Relation['columns'][number];

/** Types are PostgreSQL's, those of SQLite follow from them. */
function asDocument(relations: readonly Relation[]): string {
  const inPostgres = describeSchema('postgres');
  const say =
    ({ database, name: table }: Relation) =>
    ({ name, meaning }: Column) => {
      const other = inPostgres.find(each => each.database === database && each.name === table);
      const type = other?.columns.find(column => column.name === name)?.type ?? 'text';
      return `\`${name}\`${type === 'text' ? '' : ` (${type})`} ${meaning}`;
    };
  const parts = relations.map(relation => {
    const added = addedToVersions(relation, relations);
    if (added !== null) return `- \`${relation.name}\`: as \`${baseName(relation)}\`, with ${listed(added)}`;
    const kind = relation.kind === 'view' ? 'View. ' : '';
    return `\n## ${queryName(relation)}\n\n${kind}${relation.meaning}\n\n${relation.columns.map(say(relation)).join(' · ')}`;
  });
  const versions = parts.findIndex(part => part.startsWith('- '));
  if (versions !== -1) parts.splice(versions, 0, VERSIONS);
  return `${HEAD}\n${parts.join('\n')}\n`;
}

function baseName({ name }: Relation): string {
  return name.replace(/_(?:history|past)$/, '');
}

/** The columns that a relation of versions has more than its table; null where it is none. */
function addedToVersions(relation: Relation, relations: readonly Relation[]): readonly string[] | null {
  const base = relations.find(({ name }) => name !== relation.name && name === baseName(relation));
  if (base === undefined) return null;
  const known = base.columns.map(({ name }) => name);
  return relation.columns.map(({ name }) => name).filter(name => !known.includes(name));
}

function listed(names: readonly string[]): string {
  return names.map(name => `\`${name}\``).join(', ');
}

const HEAD = `# Tables and views

Made by \`carbon-mirror schema --markdown\` from the comments of the migrations. Names stay; columns are only added.
\`carbon-mirror schema NAME\` shows one table or view with a line for each column.

In PostgreSQL the tables of the mirror stand in the schema \`mirror\`, those of the inbox in \`inbox\`. Types in brackets are PostgreSQL's; a
column without one is text. In SQLite they are INTEGER for bigint, REAL for double precision, BLOB for bytea and TEXT for all others. Commands show
instants as text in UTC. PostgreSQL has no table \`freshness_facts\`, and has \`certificate_pieces\`, the bytes of certificates, which SQLite keeps as
files. \`schema_migrations\` holds when each migration was applied.`;

const VERSIONS = `
## Versions

Each \`_history\` is a view of all versions of a table, past and present; each \`_past\` is a table of those that are no longer true. As of an
instant: \`valid_from\` is at or before it, and \`valid_to\` is null or after it. Both are when the mirror observed it; the registry may have changed
earlier. \`closed_by\` is the sync that closed a version, \`closed_version\` the number that its closing took.
`;
