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

interface Group {
  readonly examples: readonly string[];
  /** Whether one can be shown. */
  readonly shows?: true | Parameters<typeof showCommand>[2];
}

const GROUPS: Readonly<Record<string, Group>> = {
  installations: {
    examples: ['carbon-mirror installations list', 'carbon-mirror installations show ID'],
    shows: true,
  },
  organizations: {
    examples: ['carbon-mirror organizations list', 'carbon-mirror organizations show ID --json'],
    shows: true,
  },
  members: { examples: ['carbon-mirror members list --organization ID'] },
  addresses: { examples: ['carbon-mirror addresses list'] },
  warehouse: {
    examples: ['carbon-mirror warehouse list', 'carbon-mirror warehouse list --organization ID --csv'],
  },
  inventory: {
    examples: [
      'carbon-mirror inventory list',
      'carbon-mirror inventory list --organization ID --limit 0 --out inventory.csv',
    ],
  },
  retirements: {
    examples: [
      'carbon-mirror retirements list --limit 20',
      'carbon-mirror retirements list --year 2025 --beneficiary Ferries --project Mangrove',
      'carbon-mirror retirements list --as-of now --csv=excel --out retirements.csv',
      'carbon-mirror retirements show ID',
    ],
    shows: besideRetirement,
  },
  projects: {
    examples: [
      'carbon-mirror projects list',
      'carbon-mirror projects show ID',
      'carbon-mirror projects find --serialization ICR-ISL-354-1-14-R-0-2021',
    ],
    shows: true,
  },
  reservations: {
    examples: [
      'carbon-mirror reservations list --state outstanding',
      'carbon-mirror reservations show ID',
      'carbon-mirror reservations create --organization ID --credit-id ID --amount 12.5',
      'carbon-mirror reservations finish ID --action retire --beneficiary "Harbour Ferries" --reason "Voluntary purposes"',
      'carbon-mirror reservations cancel ID',
    ],
    shows: true,
  },
  'inventory-requests': {
    examples: [
      'carbon-mirror inventory-requests list --organization ID --state pending',
      'carbon-mirror inventory-requests show ID',
      'carbon-mirror inventory-requests create --organization ID --credit-id ID --amount 5 --action transfer --receiver-id ID',
    ],
    shows: true,
  },
};

type More = Readonly<Record<string, CommandGroup['commands']>>;

/** The commands that show what is mirrored, by their names, each with those that stand beside `list` and `show`. */
export function listCommands(beside: More): Readonly<Record<string, CommandGroup>> {
  const more: More = { projects: { find: FIND_PROJECT }, ...beside };
  const lists = MIRRORED.filter(list => list !== OF_CERTIFICATES);
  return Object.fromEntries(lists.map(list => [list.name, groupOf(list, more[list.name])]));
}

function groupOf(list: List, more: CommandGroup['commands'] = {}): CommandGroup {
  const { examples = [], shows } = GROUPS[list.name] ?? {};
  const show = shows !== undefined &&
    list.entry !== null && {
      show: showCommand(list, list.entry, shows === true ? undefined : shows),
    };
  return { says: list.says, examples, commands: { list: listCommand(list), ...show, ...more } };
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
