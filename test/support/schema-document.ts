import { sortRelations } from '../../src/cli/commands/schema.js';
import { getQualifiedName } from '../../src/query/sql-names.js';
import { describeSchema, type Relation } from '../../src/store/contract/describe-schema.js';

type Column = Relation['columns'][number];

/** Formats docs/schema.md. Column types are those of PostgreSQL; its introduction says how SQLite differs. */
export function formatSchemaDocument(): string {
  const relations = sortRelations(describeSchema('sqlite'));
  const inPostgres = describeSchema('postgres');
  const createColumnFormatter =
    ({ database, name: table }: Relation) =>
    ({ name, meaning }: Column) => {
      const other = inPostgres.find(each => each.database === database && each.name === table);
      const type = other?.columns.find(column => column.name === name)?.type ?? 'text';
      return `- \`${name}\`${type === 'text' ? '' : ` (${type})`}: ${meaning}`;
    };
  const parts = relations.map(relation => {
    const added = findVersionColumns(relation, relations);
    if (added !== null)
      return `- \`${relation.name}\`: as \`${getTableName(relation)}\`, with ${formatNames(added)}`;
    const kind = relation.kind === 'view' ? 'View. ' : '';
    return `\n## ${getQualifiedName(relation)}\n\n${kind}${relation.meaning}\n\n${relation.columns.map(createColumnFormatter(relation)).join('\n')}`;
  });
  const versions = parts.findIndex(part => part.startsWith('- '));
  if (versions !== -1) parts.splice(versions, 0, VERSIONS);
  return `${HEAD}\n${parts.join('\n')}\n`;
}

function getTableName({ name }: Relation): string {
  return name.replace(/_history$/, '');
}

/** Returns the columns that a view of versions adds to its table; null for other relations. */
function findVersionColumns(relation: Relation, relations: readonly Relation[]): readonly string[] | null {
  const base = relations.find(({ name }) => name !== relation.name && name === getTableName(relation));
  if (base === undefined) return null;
  const known = base.columns.map(({ name }) => name);
  return relation.columns.map(({ name }) => name).filter(name => !known.includes(name));
}

function formatNames(names: readonly string[]): string {
  return names.map(name => `\`${name}\``).join(', ');
}

const HEAD = `# Tables and views

\`npx vitest run test/docs.test.ts -u\` generates this page from the comments in the migrations. Names never change; new versions only add
columns. \`carbon-mirror schema NAME\` shows one table or view.

- **Schemas.** In PostgreSQL, the tables of the mirror are in the schema \`mirror\`, those of the inbox in \`inbox\`.
- **Types** in brackets are those of PostgreSQL. A column without one is text. SQLite has INTEGER for bigint, REAL for double precision, BLOB for
  bytea, and TEXT for everything else.
- **Instants** are shown by commands as text in UTC.
- **Further tables.** PostgreSQL also has \`certificate_files\` with the bytes of the certificates, which SQLite keeps as files. \`schema_migrations\` records when
  each migration was applied.`;

const VERSIONS = `
## Versions

Each view \`_history\` contains all versions of the rows of a table, past and current. The table \`past\` contains the past versions of all tables.

To read the state as of an instant, select the versions with \`valid_from\` at or before it, and \`valid_to\` NULL or after it. Both are when the mirror
observed the change; the registry may have changed earlier. \`closed_by\` is the sync that ended a version, \`closed_version\` the number of the change that ended it.
`;
