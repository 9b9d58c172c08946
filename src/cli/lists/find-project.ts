import { PROJECTS } from '../../resources/projects.js';
import { command } from '../command.js';
import { usageFault } from '../exit.js';
import { cellsOf, sheet } from '../output/sheet.js';
import { text } from '../taken.js';

/** Rows of the mirror name their project themselves: of any other credit the registry is asked. */
export const FIND_PROJECT = command({
  says: 'Ask the registry for the project that issued a credit, which need not be mirrored',
  options: {
    serialization: text('text', "the credit's serialization"),
    creditId: text('id', "the credit's id"),
  },
  prints: { json: 'print it as JSON' },
  run: async (context, sought) => {
    if (sought.serialization === undefined && sought.creditId === undefined)
      throw usageFault('Expected --serialization or --credit-id; either alone is enough.');
    const project = await (await context.client()).token.findProject(sought);
    const row = { ...cellsOf(PROJECTS, project), document: project.document };
    if (context.format === 'json') await context.value(row);
    else await context.print(...sheet(row));
  },
});
