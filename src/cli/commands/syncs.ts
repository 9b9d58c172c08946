import { SYNCS as OF_SYNCS } from '../../query/lists/lists.js';
import type { CommandGroup } from '../command.js';
import { listCommand } from '../lists/list.js';
import { showNumbered } from '../lists/show.js';

export const SYNCS: CommandGroup = {
  says: OF_SYNCS.says,
  examples: [
    'carbon-mirror syncs list --organization ID --resource warehouse',
    'carbon-mirror syncs list --drift --limit 0',
    'carbon-mirror syncs show 42',
  ],
  commands: { list: listCommand(OF_SYNCS), show: showNumbered(OF_SYNCS) },
};
