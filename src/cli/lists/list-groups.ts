import { ALL_LISTS, REJECTED_WEBHOOKS } from '../../query/lists/list-definitions.js';
import type { CommandGroup } from '../define-command.js';
import { createListCommand } from './list-command.js';
import { createShowCommand, createNumberedShowCommand } from './show-command.js';

/** Examples in the help of each list, besides `list` and `show ID`. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  warehouse: ['list --organization ID --limit 0 --csv > warehouse.csv'],
  inventory: ['list --organization ID --limit 0 --csv > inventory.csv'],
  retirements: [
    'list --year 2025 --beneficiary Ferries --project Mangrove',
    'list --year 2025 --limit 0 --csv > retirements-2025.csv',
    'show ID --as-of now',
  ],
  reservations: ['list --state outstanding'],
  'inventory-requests': ['list --organization ID --state pending'],
  restatements: ['list --year 2024', 'list --organization ID --limit 0 --csv > restatements.csv'],
  orders: ['list --state unknown', 'list --actor dana --csv'],
  certificates: ['export audit --organization ID --as-of yesterday'],
  deliveries: ['rejected'],
  jobs: ['list --state failed', 'retry --all'],
  syncs: ['list --organization ID --resource warehouse', 'list --drift --limit 0'],
};

/** Subcommands by list name. */
type ExtraCommands = Readonly<Record<string, CommandGroup['commands']>>;

/**
 * Creates a command group for each list, by the name of the list. A group has the commands `list` and `show`, and the commands that `extra`
 * has under this name.
 */
export function createListGroups(extra: ExtraCommands): Readonly<Record<string, CommandGroup>> {
  // Rejected webhooks are a subcommand of deliveries.
  const lists = ALL_LISTS.filter(list => list !== REJECTED_WEBHOOKS);
  const groups = lists.map((list): [string, CommandGroup] => {
    const { name, summary, entry } = list;
    const show = entry === null ? createNumberedShowCommand(list) : createShowCommand(list, entry);
    const lines = ['list', 'show ID', ...(EXAMPLES[name] ?? [])];
    const examples = lines.map(line => `carbon-mirror ${name} ${line}`);
    return [name, { summary, examples, commands: { list: createListCommand(list), show, ...extra[name] } }];
  });
  return Object.fromEntries(groups);
}
