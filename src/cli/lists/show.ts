import type { Reader } from '../../store/contract/reader.js';
import { readByName } from '../../query/lists/find.js';
import type { List } from '../../query/lists/list.js';
import { readStates } from '../../query/reads/freshness.js';
import type { Entry } from '../../resources/entry.js';
import { type Command, command } from '../command.js';
import { notThereFault } from '../exit.js';
import { findNamed, organizationOrAll } from '../find/in-mirror.js';
import { HOW_NAMED, needed, text } from '../taken.js';
import type { Row } from '../output/output.js';
import { findNumbered } from './list.js';
import { sheet } from '../output/sheet.js';

/** `show ID` of what is numbered here: every column, and what can be done about it. */
export function showNumbered(list: List, advise: (row: Row) => string[] = () => []): Command {
  return command({
    says: `Show one ${list.one}, with every column`,
    words: { id: needed(text('id', 'its number')) },
    prints: { json: 'print it as JSON' },
    run: async (context, { id }) => {
      const row = await findNumbered(context, list, id);
      if (context.format === 'json') return await context.value(row);
      await context.print(...sheet(row));
      return context.say(...advise(row));
    },
  });
}

/** `show ID`: every column, and the registry's whole object. */
export function showCommand(list: List, entry: Entry): Command {
  return command({
    says: `Show one of the ${list.many}, with the registry's whole object`,
    words: { id: needed(text('id', `value of the column ${list.named}, or its beginning`)) },
    options: { organization: text('name', `whose it is: ${HOW_NAMED}`) },
    prints: { json: 'print it as JSON' },
    run: async (context, { id, organization }) => {
      const reader = await context.reader();
      const rows = await findRows(reader, list, entry, id, await organizationOrAll(reader, organization));
      if (context.format === 'json') return await context.value(rows.length === 1 ? rows[0] : rows);
      for (const row of rows) await context.print(...sheet(row));
      return undefined;
    },
  });
}

async function findRows(
  reader: Reader,
  list: List,
  entry: Entry,
  id: string,
  organizationId: string | null,
): Promise<readonly Row[]> {
  const read = async (name: string) => await readByName(reader, entry, name, organizationId);
  const rows = await findNamed(reader, entry, id, read);
  if (rows.length === 0) {
    throw notThereFault(
      `There is no "${id}" among the ${list.many} of the mirror.`,
      `It may be gone, or not read yet: see "carbon-mirror history" and "carbon-mirror status".`,
    );
  }
  const states = await readStates(reader, list.resource, organizationId);
  const refined = (await list.refine?.(reader, rows)) ?? rows;
  return states === null
    ? refined
    : refined.map(row => ({ ...row, freshness: states.standingOf(row)?.state ?? null }));
}
