import { sortByUse, getQueryName } from '../../src/cli/commands/schema.js';
import { describeSchema, type Relation } from '../../src/store/contract/relation.js';

type Column = Relation['columns'][number];

/** Types are PostgreSQL's, those of SQLite follow from them. */
export function schemaDocument(): string {
  const relations = sortByUse(describeSchema('sqlite'));
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
    return `\n## ${getQueryName(relation)}\n\n${kind}${relation.meaning}\n\n${relation.columns.map(say(relation)).join(' · ')}`;
  });
  const versions = parts.findIndex(part => part.startsWith('- '));
  if (versions !== -1) parts.splice(versions, 0, VERSIONS);
  return `${HEAD}\n${parts.join('\n')}\n`;
}

function baseName({ name }: Relation): string {
  return name.replace(/_history$/, '');
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

Made by \`npx vitest run test/docs.test.ts -u\` from the comments of the migrations. Names stay; columns are only added.
\`carbon-mirror schema NAME\` shows one table or view with a line for each column.

In PostgreSQL the tables of the mirror stand in the schema \`mirror\`, those of the inbox in \`inbox\`. Types in brackets are PostgreSQL's; a
column without one is text. In SQLite they are INTEGER for bigint, REAL for double precision, BLOB for bytea and TEXT for all others. Commands show
instants as text in UTC. PostgreSQL has the table \`certificate_files\`, the bytes of certificates, which SQLite keeps as files. \`schema_migrations\` holds when each migration was applied.`;

const VERSIONS = `
## Versions

Each \`_history\` is a view of all versions of a table, past and present; \`past\` has those of all tables that are no longer true. As of an
instant: \`valid_from\` is at or before it, and \`valid_to\` is null or after it. Both are when the mirror observed it; the registry may have changed
earlier. \`closed_by\` is the sync that closed a version, \`closed_version\` the number that its closing took.
`;
