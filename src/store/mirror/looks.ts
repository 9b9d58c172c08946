import type { KnownInstallation, MirrorPort } from '../../mirror/port.js';
import { formatInstant } from '../../resources/columns.js';
import type { Resource } from '../../resources/lists.js';
import type { Database } from '../database.js';
import {
  LAST_READ,
  type LastReadRow,
  lastReadOf,
  OPENING,
  type OpeningRow,
  openingOf,
} from '../resource-state.js';
import { fixed, statement } from '../statement.js';

const INSTALLATIONS = `SELECT id, organization_id AS "organizationId", state, permissions FROM mirror.installations`;

const INSTALLATION = statement<{ id: string }, KnownInstallation>(`${INSTALLATIONS} WHERE id = @id`);
const ALL_INSTALLATIONS = fixed<KnownInstallation>(`${INSTALLATIONS} ORDER BY id`);
const HIGHEST = fixed<{ claim: number | null }>('SELECT max(claim) AS claim FROM mirror.fences');
const LAST_READS = statement<{ organizationId: string }, LastReadRow & { readonly resource: Resource }>(
  `SELECT resource, ${LAST_READ} FROM mirror.resource_states WHERE organization_id = @organizationId`,
);
const BEGIN = statement<{ organizationId: string; resource: string }, OpeningRow>(
  `SELECT ${OPENING} FROM mirror.resource_states WHERE organization_id = @organizationId AND resource = @resource`,
);
const DUE_PROJECTS = statement<{ organizationId: string; before: string; at: string }, { id: string }>(
  `SELECT r.project_id AS id FROM mirror.project_references AS r
   LEFT JOIN mirror.project_states AS s ON s.project_id = r.project_id
   WHERE r.organization_id = @organizationId AND (s.checked_at IS NULL OR s.checked_at < @before OR s.checked_at > @at)
   ORDER BY r.project_id`,
);

/** What whoever reads the registry must know of the mirror beforehand. Nothing here writes. */
export function createLooks({
  look,
}: Database): Pick<
  MirrorPort,
  'findInstallation' | 'listInstallations' | 'highestClaim' | 'lastReads' | 'begin' | 'dueProjects'
> {
  return {
    findInstallation: async id => (await look(INSTALLATION({ id })))[0][0] ?? null,
    listInstallations: async () => (await look(ALL_INSTALLATIONS))[0],
    highestClaim: async () => (await look(HIGHEST))[0][0]?.claim ?? 0,
    lastReads: async organizationId => {
      const [rows] = await look(LAST_READS({ organizationId }));
      return new Map(rows.map(row => [row.resource, lastReadOf(row)] as const));
    },
    begin: async ({ organizationId, resource }) =>
      openingOf((await look(BEGIN({ organizationId, resource })))[0][0]),
    dueProjects: async (organizationId, checkedBefore, at) => {
      const before = formatInstant(checkedBefore);
      const [rows] = await look(DUE_PROJECTS({ organizationId, before, at: formatInstant(at) }));
      return rows.map(({ id }) => id);
    },
  };
}
