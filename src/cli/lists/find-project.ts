import { findProjects } from '../../query/find-projects.js';
import type { Project } from '../../registry/model.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { notThereFault, usageFault } from '../exit.js';
import type { Row } from '../output/output.js';
import { sheet } from '../output/sheet.js';
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
    const rows = live
      ? [projectRow(await (await context.client()).token.findProject(sought))]
      : await findMirrored(context, sought);
    if (context.format === 'json') return await context.value(rows.length === 1 ? rows[0] : rows);
    for (const row of rows) await context.print(...sheet(row));
    return undefined;
  },
});

async function findMirrored(context: Context, sought: Parameters<typeof findProjects>[1]): Promise<Row[]> {
  const rows = await findProjects(await context.reader(), sought);
  if (rows.length > 0) return rows;
  throw notThereFault(
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
