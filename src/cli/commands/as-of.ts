import {
  type AsOf,
  DATED,
  readAsOf,
  readKnownAt,
  readLastReadBefore,
  readOrganizationIds,
} from '../../query/history/as-of.js';
import { underWay } from '../../text/known.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { knownAt } from '../known-at.js';
import { organizationIn } from '../find/in-mirror.js';
import type { Row } from '../output/output.js';
import { createTally, describeTotal } from '../output/totals.js';
import { choice, date, needed, text } from '../taken.js';

const RESOURCES = ['warehouse', 'inventory', 'retirements'] as const;

export const AS_OF = command({
  says: 'Show warehouse, inventory and retirements of an organization as the mirror had observed them by then',
  words: { asOf: needed(date('the end of')) },
  options: {
    organization: text('name', 'the organization; may be left out where the mirror knows only one'),
    resource: choice('name', 'one of them only', RESOURCES),
  },
  prints: { json: 'print it as JSON', csv: 'print it as CSV; needs --resource', file: true },
  examples: today => [
    `carbon-mirror as-of ${today} --organization ID`,
    'carbon-mirror as-of now --resource retirements --out retirements.csv',
  ],
  run: async (context, { asOf: { to: at }, organization, resource }) => {
    const { io, format } = context;
    if (!['table', 'json'].includes(format) && resource === undefined) {
      throw usageFault('--csv prints one table: expected --resource warehouse, inventory or retirements.');
    }
    const reader = await context.reader();
    const organizationId =
      organization === undefined
        ? onlyOne(await readOrganizationIds(reader))
        : await organizationIn(reader, organization);
    const wanted = (resource === undefined ? RESOURCES : [resource]).map(each => ({
      organizationId,
      resource: each,
      at,
    }));
    const known = await knownAt(io, reader, wanted, asOf => asOf.resource);
    if (format !== 'json') {
      for (const asOf of known) await writePart(context, asOf);
      return;
    }
    const parts: Record<string, unknown> = {};
    for (const asOf of known) {
      const { lastRead, reading } = await readTrust(context, asOf);
      const rows: Row[] = [];
      for await (const row of readAsOf(reader, asOf)) rows.push(row);
      parts[asOf.resource] = { lastRead, being_read: reading, rows };
    }
    await context.value({ organizationId, at, ...parts });
  },
});

/** How far it can be trusted. */
async function readTrust(context: Context, asOf: AsOf) {
  const reader = await context.reader();
  const { reading } = await readKnownAt(reader, asOf);
  return { lastRead: await readLastReadBefore(reader, asOf), reading };
}

/** The title is data where people read it, and talk where a program does. */
async function writePart(context: Context, asOf: AsOf): Promise<void> {
  const { format, print, say } = context;
  const { lastRead, reading } = await readTrust(context, asOf);
  const title = `${asOf.resource} as of ${asOf.at}${lastRead === null ? '' : `, last read ${lastRead}`}:`;
  if (reading !== null) say(`${asOf.resource}: ${underWay(reading)}.`);
  const isForPeople = format === 'table';
  if (isForPeople) await print(title);
  else say(title);
  const tally = createTally();
  const rows = tally.count(readAsOf(await context.reader(), asOf));
  const shape = { keep: ['amount_exact'], tonnes: ['amount_exact'] };
  await context.rows(DATED[asOf.resource].columns, rows, shape);
  if (isForPeople) await print('', `${asOf.resource}: ${describeTotal(tally.total())}`, '');
}

function onlyOne(ids: readonly string[]): string {
  const [id] = ids;
  if (id !== undefined && ids.length === 1) return id;
  throw usageFault(
    `Expected --organization ID: the mirror knows ${ids.length} organizations.`,
    'See "carbon-mirror organizations list" for their ids.',
  );
}
