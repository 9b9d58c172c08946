import type { Sqlite } from '../open.js';
import type { KnownInstallation, LastRead } from '../../../mirror/port.js';
import type { Resource } from '../../../resources/lists.js';

interface StateRow {
  resource: Resource;
  declined: LastRead['declined'];
  refusals: number;
  attempted_at: string | null;
  complete_at: string | null;
  duration_ms: number | null;
  page_size: number | null;
  is_strange: number;
}

/** What whoever reads the registry must know of the mirror beforehand. Nothing here writes. */
export interface Standing {
  readonly findInstallation: (id: string) => KnownInstallation | null;
  readonly listInstallations: () => KnownInstallation[];
  readonly lastReads: (organizationId: string) => Map<Resource, LastRead>;
}

export function createStanding(db: Sqlite): Standing {
  const columns = 'id, organization_id AS organizationId, state, permissions';
  const find = db.prepare<[string], KnownInstallation>(`SELECT ${columns} FROM installations WHERE id = ?`);
  const list = db.prepare<[], KnownInstallation>(`SELECT ${columns} FROM installations ORDER BY id`);
  const last = db.prepare<[string], StateRow>(
    `SELECT resource, CASE
       WHEN not_offered_at IS NOT NULL THEN 'not_offered'
       WHEN forbidden_at IS NOT NULL AND refusals > 0 THEN 'refused'
     END AS declined, refusals, attempted_at, complete_at, duration_ms, page_size,
       answer_text IS NOT NULL AS is_strange FROM resource_states
     WHERE organization_id = ?`,
  );
  return {
    findInstallation: id => find.get(id) ?? null,
    listInstallations: () => list.all(),
    lastReads: organizationId =>
      new Map(last.all(organizationId).map(row => [row.resource, lastRead(row)] as const)),
  };
}

function lastRead(row: StateRow): LastRead {
  return {
    declined: row.declined,
    refusals: row.refusals,
    attemptedAt: milliseconds(row.attempted_at),
    completeAt: milliseconds(row.complete_at),
    durationMs: row.duration_ms ?? 0,
    isStrange: row.is_strange === 1,
    pageSize: row.page_size,
  };
}

function milliseconds(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}
