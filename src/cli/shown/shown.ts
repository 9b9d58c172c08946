import type { Reader } from '../../engines/contract/reader.js';
import { readByName, readHistory } from '../../query/lists.js';
import { CERTIFICATES } from '../../resources/certificates.js';
import { INSTALLATIONS } from '../../resources/installations.js';
import { LISTS } from '../../resources/lists.js';
import { PROJECTS } from '../../resources/projects.js';
import { type CommandModule, examples } from '../command.js';
import { installationIn, organizationIn } from '../named/in-mirror.js';
import type { Row } from '../output/output.js';
import { stateFilter, textFilter, yearFilter } from './filters.js';
import { defineFind } from './find-project.js';
import { defineList } from './lists.js';
import { withMinutes } from './made-rows.js';
import type { Resource } from './resource.js';
import { defineShow } from './show.js';

/** The commands that show what is mirrored, by their names. */
export const SHOWN = {
  installations: shows('installations', {
    description: 'The links between this app and organizations',
    examples: ['carbon-mirror installations list', 'carbon-mirror installations show ID'],
    noun: 'installations',
    list: INSTALLATIONS,
    hasShow: true,
    find: installationIn,
  }),
  organizations: shows('organizations', {
    description: 'The organizations that this app is or was installed on',
    examples: ['carbon-mirror organizations list', 'carbon-mirror organizations show ID --json'],
    noun: 'organizations',
    list: LISTS.organization,
    hasShow: true,
    find: organizationIn,
  }),
  members: shows('members', {
    description: 'The people of organizations that let this app see them',
    examples: ['carbon-mirror members list --organization ID'],
    noun: 'members',
    list: LISTS.members,
  }),
  addresses: shows('addresses', {
    description: "Organizations' public addresses on the chain",
    examples: ['carbon-mirror addresses list'],
    noun: 'addresses',
    list: LISTS.addresses,
  }),
  warehouse: shows('warehouse', {
    description: 'Credits that apps may reserve',
    examples: ['carbon-mirror warehouse list', 'carbon-mirror warehouse list --organization ID --csv'],
    noun: 'credits in the warehouses',
    list: LISTS.warehouse,
  }),
  inventory: shows('inventory', {
    description: 'Credits in the main inventories',
    examples: [
      'carbon-mirror inventory list',
      'carbon-mirror inventory list --organization ID --limit 0 --out inventory.csv',
    ],
    noun: 'credits in the main inventories',
    list: LISTS.inventory,
  }),
  retirements: shows('retirements', {
    description: 'Credits that were retired, and for whom',
    examples: [
      'carbon-mirror retirements list --limit 20',
      'carbon-mirror retirements list --year 2025 --beneficiary Ferries --project Mangrove',
      'carbon-mirror retirements list --as-of now --csv=excel --out retirements.csv',
      'carbon-mirror retirements show ID',
    ],
    noun: 'retirements',
    list: LISTS.retirements,
    filters: [
      yearFilter('created_at'),
      textFilter('beneficiary', 'beneficiary'),
      textFilter('project', 'project_name'),
    ],
    dated: 'retirements',
    hasShow: true,
    beside: besideRetirement,
  }),
  projects: shows('projects', {
    description: 'The projects that issued the credits',
    examples: [
      'carbon-mirror projects list',
      'carbon-mirror projects show ID',
      'carbon-mirror projects find --serialization ICR-ISL-354-1-14-R-0-2021',
    ],
    noun: 'projects',
    list: PROJECTS,
    hasShow: true,
    more: defineFind,
  }),
  reservations: shows('reservations', {
    description: 'Credits of warehouses that apps hold, for ten minutes at most',
    examples: [
      'carbon-mirror reservations list --state outstanding',
      'carbon-mirror reservations show ID',
      'carbon-mirror reservations create --organization ID --credit-id ID --amount 12.5',
      'carbon-mirror reservations finish ID --action retire --beneficiary "Harbour Ferries" --reason "Voluntary purposes"',
      'carbon-mirror reservations cancel ID',
    ],
    noun: 'reservations',
    list: LISTS.reservations,
    columns: LISTS.reservations.shown.columns.map(name => (name === 'seconds_left' ? 'minutes_left' : name)),
    refine: withMinutes,
    filters: [stateFilter('state_now', ['outstanding', 'finished', 'cancelled', 'expired'])],
    hasShow: true,
  }),
  'inventory-requests': shows('inventory-requests', {
    description: 'What apps ask of inventories, for an administrator to accept or decline',
    examples: [
      'carbon-mirror inventory-requests list --organization ID --state pending',
      'carbon-mirror inventory-requests show ID',
      'carbon-mirror inventory-requests create --organization ID --credit-id ID --amount 5 --action transfer --receiver-id ID',
    ],
    noun: 'inventory requests',
    list: LISTS.inventory_requests,
    filters: [textFilter('state', 'state')],
    hasShow: true,
  }),
};

function shows(name: string, resource: Resource): CommandModule {
  return {
    define: (program, io) => {
      const group = examples(program.command(name).description(resource.description), resource.examples);
      defineList(group, io, resource);
      if (resource.hasShow) defineShow(group, io, resource);
      resource.more?.(group, io);
    },
  };
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
