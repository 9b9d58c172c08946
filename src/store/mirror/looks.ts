import type { KnownInstallation, MirrorPort } from '../../mirror/port.js';
import { formatInstant } from '../../resources/columns.js';
import type { Resource } from '../../resources/lists.js';
import { OPENING, type OpeningRow, openingOf } from '../resource-state.js';
import { fixed, statement, type Database } from '../statement.js';

const INSTALLATIONS = `SELECT id, organization_id AS "organizationId", state, permissions FROM mirror.installations`;

const INSTALLATION = statement<{ id: string }, KnownInstallation>(`${INSTALLATIONS} WHERE id = @id`);
const ALL_INSTALLATIONS = fixed<KnownInstallation>(`${INSTALLATIONS} ORDER BY id`);
const STATES = statement<{ organizationId: string }, OpeningRow & { readonly resource: Resource }>(
  `SELECT ${OPENING} FROM mirror.resource_states WHERE organization_id = @organizationId`,
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
}: Database): Pick<MirrorPort, 'installations' | 'states' | 'dueProjects'> {
  return {
    installations: async id => (await look(id === undefined ? ALL_INSTALLATIONS : INSTALLATION({ id })))[0],
    states: async organizationId => {
      const [rows] = await look(STATES({ organizationId }));
      return new Map(rows.map(row => [row.resource, openingOf(row)] as const));
    },
    dueProjects: async (organizationId, checkedBefore, at) => {
      const before = formatInstant(checkedBefore);
      const [rows] = await look(DUE_PROJECTS({ organizationId, before, at: formatInstant(at) }));
      return rows.map(({ id }) => id);
    },
  };
}
