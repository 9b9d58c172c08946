import type { Sqlite } from '../open.js';
import { LAST_READ, type LastReadRow, lastReadOf } from '../../resource-state.js';
import type { KnownInstallation } from '../../../mirror/port.js';
import type { Resource } from '../../../resources/lists.js';
import type { MirrorOperations } from './operations.js';

/** What whoever reads the registry must know of the mirror beforehand. Nothing here writes. */
export function createLastReads(
  db: Sqlite,
): Pick<MirrorOperations, 'findInstallation' | 'listInstallations' | 'lastReads'> {
  const columns = 'id, organization_id AS organizationId, state, permissions';
  const find = db.prepare<[string], KnownInstallation>(`SELECT ${columns} FROM installations WHERE id = ?`);
  const list = db.prepare<[], KnownInstallation>(`SELECT ${columns} FROM installations ORDER BY id`);
  const last = db.prepare<[string], LastReadRow & { readonly resource: Resource }>(
    `SELECT resource, ${LAST_READ} FROM resource_states WHERE organization_id = ?`,
  );
  return {
    findInstallation: id => find.get(id) ?? null,
    listInstallations: () => list.all(),
    lastReads: organizationId =>
      new Map(last.all(organizationId).map(row => [row.resource, lastReadOf(row)] as const)),
  };
}
