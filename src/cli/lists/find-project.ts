import { findProjects } from '../../query/find-projects.js';
import { PROJECTS } from '../../resources/projects.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { notThereFault, usageFault } from '../exit.js';
import type { Row } from '../output/output.js';
import { cellsOf, sheet } from '../output/sheet.js';
import { flag, text } from '../taken.js';

export const FIND_PROJECT = command({
  says: 'Find the project that issued a credit',
  options: {
    serialization: text('text', "the credit's serialization"),
    creditId: text('id', "the credit's id"),
    live: flag('ask the registry instead of the mirror'),
  },
  prints: { json: 'print it as JSON' },
  run: async (context, { live, ...sought }) => {
    if (sought.serialization === undefined && sought.creditId === undefined) {
      throw usageFault('Expected --serialization or --credit-id; either alone is enough.');
    }
    const rows = await (live ? findLive(context, sought) : findMirrored(context, sought));
    if (context.format === 'json') return await context.value(rows.length === 1 ? rows[0] : rows);
    for (const row of rows) await context.print(...sheet(row));
    return undefined;
  },
});

type Sought = Parameters<typeof findProjects>[1];

async function findLive({ client }: Context, sought: Sought): Promise<Row[]> {
  const project = await (await client()).token.findProject(sought);
  return [{ ...cellsOf(PROJECTS, project), document: project.document }];
}

async function findMirrored(context: Context, sought: Sought): Promise<Row[]> {
  const rows = await findProjects(await context.reader(), sought);
  if (rows.length > 0) return rows;
  throw notThereFault(
    'No project in the mirror issued this credit.',
    'Ask the registry with --live; a project that is not public cannot be read.',
  );
}
