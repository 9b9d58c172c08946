import type { KnownInstallation, MirrorPort } from '../../../mirror/port.js';
import type { Resource } from '../../../resources/lists.js';
import { LAST_READ, type LastReadRow, lastReadOf } from '../../resource-state.js';
import type { Postgres } from '../open.js';

const KNOWN = `SELECT id, organization_id AS "organizationId", state, permissions FROM mirror.installations`;

/** What whoever reads the registry must know of the mirror beforehand. Nothing here writes. */
export function createLastReads({
  query,
}: Postgres): Pick<MirrorPort, 'findInstallation' | 'listInstallations' | 'lastReads'> {
  return {
    findInstallation: async id => (await query<KnownInstallation>(`${KNOWN} WHERE id = $1`, [id]))[0] ?? null,
    listInstallations: () => query<KnownInstallation>(`${KNOWN} ORDER BY id`),
    lastReads: async organizationId => {
      const rows = await query<LastReadRow & { readonly resource: Resource }>(
        `SELECT resource, ${LAST_READ} FROM mirror.resource_states WHERE organization_id = $1`,
        [organizationId],
      );
      return new Map(rows.map(row => [row.resource, lastReadOf(row)] as const));
    },
  };
}
