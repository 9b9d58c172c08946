import { readRuns, RUN_COLUMNS } from '../../query/reads/runs.js';
import { ENTRY_OF } from '../../resources/resources.js';
import { command, type CommandGroup, ROWS } from '../command.js';
import { organizationOrAll } from '../named/in-mirror.js';
import { choice, flag, limit, ORGANIZATION } from '../taken.js';

const list = command({
  says: 'List reads, newest first',
  options: {
    organization: ORGANIZATION,
    resource: choice('name', 'of one resource only', ['installation', ...Object.keys(ENTRY_OF)]),
    drift: flag('only those that found what no delivery had announced'),
    limit: limit(50),
  },
  prints: ROWS,
  run: async (context, { organization, resource = null, drift, limit: most }) => {
    const reader = await context.reader();
    const organizationId = await organizationOrAll(reader, organization);
    const rows = await readRuns(reader, { organizationId, resource, isDrift: drift, limit: most || null });
    const none = 'No read is as asked for.';
    await context.rows(RUN_COLUMNS, rows, { keep: ['resource', 'drift'], none });
    if (most > 0 && rows.length === most)
      context.say(`Shown: ${most}. There may be more: --limit 0 shows all.`);
  },
});

export const RUNS: CommandGroup = {
  says: 'Reads of the registry: when, why, how long, and what they changed',
  examples: [
    'carbon-mirror runs list --organization ID --resource warehouse',
    'carbon-mirror runs list --drift --limit 0',
  ],
  commands: { list },
};
