import type { Reader } from '../../store/contract/reader.js';
import { readByName, readHistory } from '../../query/lists/find.js';
import type { List } from '../../query/lists/list.js';
import { CERTIFICATES as OF_CERTIFICATES, MIRRORED } from '../../query/lists/lists.js';
import { CERTIFICATES } from '../../resources/certificates.js';
import { LISTS } from '../../resources/lists.js';
import type { CommandGroup } from '../command.js';
import type { Row } from '../output/output.js';
import { FIND_PROJECT } from './find-project.js';
import { listCommand } from './list.js';
import { showCommand } from './show.js';

/** Examples beside those that every list has. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  warehouse: ['list --organization ID --csv'],
  inventory: ['list --organization ID --limit 0 --out inventory.csv'],
  retirements: [
    'list --year 2025 --beneficiary Ferries --project Mangrove',
    'list --as-of now --csv=excel --out retirements.csv',
  ],
  projects: ['find --serialization ICR-ISL-354-1-14-R-0-2021'],
  reservations: ['list --state outstanding'],
  'inventory-requests': ['list --organization ID --state pending'],
};

/** Those of which one can be shown by itself; a retirement with more beside it. */
const SHOWN = ['installations', 'organizations', 'projects', 'reservations', 'inventory-requests'];

type More = Readonly<Record<string, CommandGroup['commands']>>;

/** The commands that show what is mirrored, by their names, each with those that stand beside `list` and `show`. */
export function listCommands(beside: More): Readonly<Record<string, CommandGroup>> {
  const more: More = { projects: { find: FIND_PROJECT }, ...beside };
  const lists = MIRRORED.filter(list => list !== OF_CERTIFICATES);
  return Object.fromEntries(lists.map(list => [list.name, groupOf(list, more[list.name])]));
}

function groupOf(list: List, more: CommandGroup['commands'] = {}): CommandGroup {
  const { name, says, entry } = list;
  const beside = name === 'retirements' ? besideRetirement : undefined;
  const show = entry !== null && (beside || SHOWN.includes(name)) ? showCommand(list, entry, beside) : null;
  const lines = ['list', ...(show === null ? [] : ['show ID']), ...(EXAMPLES[name] ?? [])];
  const examples = lines.map(line => `carbon-mirror ${name} ${line}`);
  return { says, examples, commands: { list: listCommand(list), ...(show && { show }), ...more } };
}

const OF_CERTIFICATE = ['state', 'file', 'sha256', 'size', 'fetched_at', 'error'];
const OF_VERSION = ['valid_from', 'valid_to', 'amount_exact', 'beneficiary', 'comment'];

async function besideRetirement(reader: Reader, { id, organization_id: organizationId }: Row) {
  const whose = String(organizationId);
  const certificates = await readByName(reader, CERTIFICATES, String(id), whose);
  const versions = await readHistory(reader, LISTS.retirements, String(id));
  return {
    certificates: certificates.map(row => pick(row, OF_CERTIFICATE)),
    versions: versions
      .filter(row => row['organization_id'] === organizationId)
      .map(row => pick(row, OF_VERSION)),
  };
}

function pick(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.map(name => [name, row[name]]));
}
