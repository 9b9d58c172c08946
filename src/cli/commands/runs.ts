import { RUNS as OF_RUNS } from '../../query/lists/lists.js';
import type { CommandGroup } from '../command.js';
import { listCommand } from '../lists/list.js';

export const RUNS: CommandGroup = {
  says: OF_RUNS.says,
  examples: [
    'carbon-mirror runs list --organization ID --resource warehouse',
    'carbon-mirror runs list --drift --limit 0',
  ],
  commands: { list: listCommand(OF_RUNS) },
};
