import type { Command } from 'commander';
import { findProjects } from '../../query/find-projects.js';
import { connect } from '../place/connect.js';
import type { Project } from '../../registry/model.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, print } from '../io.js';
import { sheet } from './sheet.js';
import { type Row, writeValue } from '../output/output.js';
import { findPlace } from '../place/find-place.js';
import { reading, type Place } from '../place/place.js';

interface FindOptions {
  readonly serialization?: string;
  readonly creditId?: string;
  readonly live?: boolean;
  readonly json?: boolean;
}

export function defineFind(group: Command, io: Io): void {
  group
    .command('find')
    .description('Find the project that issued a credit')
    .option('--serialization <text>', "the credit's serialization")
    .option('--credit-id <id>', "the credit's id")
    .option('--live', 'ask the registry instead of the mirror')
    .option('--json', 'print it as JSON')
    .action(async (options: FindOptions) => {
      const { serialization, creditId } = options;
      if (serialization === undefined && creditId === undefined) {
        throw new CommandFault(
          EXIT.usage,
          'Expected --serialization or --credit-id; either alone is enough.',
        );
      }
      const place = findPlace(io);
      const rows = options.live
        ? [await findLive(io, place, { serialization, creditId })]
        : await findMirrored(place, { serialization, creditId });
      if (options.json) return await writeValue(io, rows.length === 1 ? rows[0] : rows);
      for (const row of rows) await print(io, ...sheet(row));
      return undefined;
    });
}

interface Sought {
  readonly serialization: string | undefined;
  readonly creditId: string | undefined;
}

async function findLive(io: Io, place: Place, sought: Sought): Promise<Row> {
  return projectRow(await (await connect(place, io)).token.findProject(sought));
}

async function findMirrored(place: Place, sought: Sought): Promise<Row[]> {
  const rows = await reading(place, async reader => await findProjects(reader, sought));
  if (rows.length > 0) return rows;
  throw new CommandFault(
    EXIT.notThere,
    'No project in the mirror issued this credit.',
    'Ask the registry with --live; a project that is not public cannot be read.',
  );
}

/** In the columns of the mirror. */
function projectRow(project: Project): Row {
  return {
    id: project.id,
    num: project.num,
    full_name: project.fullName,
    status: project.status,
    country_code: project.countryCode,
    sector: project.sector,
    type: project.type,
    document: project.document,
  };
}
