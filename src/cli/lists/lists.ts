import type { List } from '../../query/lists/list.js';
import { CERTIFICATES as OF_CERTIFICATES, MIRRORED } from '../../query/lists/lists.js';
import type { CommandGroup } from '../command.js';
import { listCommand } from './list.js';
import { showCommand } from './show.js';

/** Examples beside those that every list has. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  warehouse: ['list --organization ID --csv'],
  inventory: ['list --organization ID --limit 0 --csv > inventory.csv'],
  retirements: [
    'list --year 2025 --beneficiary Ferries --project Mangrove',
    'list --as-of now --csv > retirements.csv',
    'show ID --as-of now',
  ],
  reservations: ['list --state outstanding'],
  'inventory-requests': ['list --organization ID --state pending'],
};

type More = Readonly<Record<string, CommandGroup['commands']>>;

/** The commands that show what is mirrored, by their names, each with those that stand beside `list` and `show`. */
export function listCommands(more: More): Readonly<Record<string, CommandGroup>> {
  const lists = MIRRORED.filter(list => list !== OF_CERTIFICATES);
  return Object.fromEntries(lists.map(list => [list.name, groupOf(list, more[list.name])]));
}

function groupOf(list: List, more: CommandGroup['commands'] = {}): CommandGroup {
  const { name, says, entry } = list;
  const show = entry !== null && { show: showCommand(list, entry) };
  const lines = ['list', 'show ID', ...(EXAMPLES[name] ?? [])];
  const examples = lines.map(line => `carbon-mirror ${name} ${line}`);
  return { says, examples, commands: { list: listCommand(list), ...show, ...more } };
}
