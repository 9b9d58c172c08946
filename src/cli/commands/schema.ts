import { type Command, Option } from 'commander';
import type { Relation } from '../../engines/contract/relation.js';
import { examples } from '../command.js';
import { grantsTo, PURPOSES, type Purpose } from '../../engines/contract/grants.js';
import { CommandFault, EXIT } from '../exit.js';
import { emit, type Io } from '../io.js';
import { notThere } from '../named/named.js';
import { findEntry } from '../../resources/resources.js';
import { writeValue } from '../output/output.js';
import { writeWrapped } from '../output/wrapped.js';
import { ownPlace } from '../place/find-place.js';

interface SchemaOptions {
  readonly json?: boolean;
  readonly markdown?: boolean;
  readonly grants?: Purpose;
}

export function define(program: Command, io: Io): void {
  const command = program
    .command('schema')
    .description('Show the tables, views and columns that queries may use, and what each means')
    .argument('[name]', 'show one table or view only; with --grants the role')
    .option('--json', 'print it as JSON')
    .option('--markdown', 'print it as the document docs/schema.md')
    .addOption(
      new Option('--grants <purpose>', 'print what PostgreSQL is to grant a role that does this').choices(
        PURPOSES,
      ),
    )
    .action(async (name: string | undefined, options: SchemaOptions) => {
      if (options.grants !== undefined) return await emit(io, grantsText(options.grants, name));
      const relations = choose(inOrderOfUse(await ownPlace(io).engine.describeSchema()), name);
      if (options.json) return await writeValue(io, relations);
      if (options.markdown) {
        const { writtenTypes } = await import('../../engines/contract/written-types.js');
        return await emit(io, markdown(relations, writtenTypes()));
      }
      if (name !== undefined) return await showColumns(io, relations);
      await writeWrapped(
        io,
        relations.map(relation => [queryName(relation), relation.meaning]),
      );
      io.stderr.write('"carbon-mirror schema NAME" shows the columns of one.\n');
      return undefined;
    });
  examples(command, [
    'carbon-mirror schema',
    'carbon-mirror schema retirements',
    'carbon-mirror schema --markdown > docs/schema.md',
    'carbon-mirror schema --grants read dashboards | psql "$MIRROR_DATABASE_URL"',
  ]);
}

function grantsText(purpose: Purpose, role: string | undefined): string {
  if (role !== undefined) return `${grantsTo(purpose, role).join('\n')}\n`;
  throw new CommandFault(
    EXIT.usage,
    `Say which role is to be granted it: carbon-mirror schema --grants ${purpose} ROLE`,
  );
}

/** The name under which "carbon-mirror query" knows it. */
export function queryName(relation: Relation): string {
  return relation.database === 'inbox' ? `inbox.${relation.name}` : relation.name;
}

const OF_USE = ['sync_runs', 'resource_states', 'deliveries', 'jobs', 'refusals', 'processes'];

/** What answers a question, what is mirrored, how it came there, what was before, and the bookkeeping. */
function inOrderOfUse(relations: readonly Relation[]): readonly Relation[] {
  const rank = ({ kind, name }: Relation): number => {
    if (name.endsWith('_history')) return 3;
    if (name.endsWith('_past')) return 4;
    if (kind === 'view') return 0;
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

/** With the types of both engines; a view has those of the tables below it. */
function markdown(relations: readonly Relation[], inPostgres: ReadonlyMap<string, string>): string {
  const parts = relations.map(relation => {
    const rows = relation.columns.map(({ name, type, meaning }) => {
      const other = inPostgres.get(`${relation.database}.${relation.name}.${name}`) ?? '';
      return `| \`${name}\` | ${type} | ${other} | ${meaning.replaceAll('|', '\\|')} |`;
    });
    return [
      `## ${queryName(relation)}`,
      '',
      `${relation.kind === 'view' ? 'View. ' : ''}${relation.meaning}`,
      '',
      '| column | SQLite | PostgreSQL | meaning |',
      '|---|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return [
    '# Tables and views',
    '',
    'Made by `carbon-mirror schema --markdown` from the comments of the migrations. Names stay; columns are only added.',
    'History tells what the mirror had been told by then: `valid_from` is when the answer that showed a row so had arrived.',
    'The registry may have changed earlier. `schema_migrations` holds when each migration was applied.',
    '',
    'In PostgreSQL the tables of the mirror stand in the schema `mirror`, those of the inbox in `inbox`; instants are `timestamptz(3)`',
    'there and are shown as text in UTC by every command. It has no table `announcements`, whose rows `freshness` finds itself, and one',
    'more, `certificate_pieces`: the bytes of certificates, which SQLite keeps as files.',
    '',
    ...parts,
  ].join('\n');
}
