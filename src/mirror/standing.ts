import type { Sqlite } from '../database/open.js';
import type { Resource } from './resources.js';

export interface KnownInstallation {
  readonly id: string;
  readonly organizationId: string | null;
  readonly state: string;
  /** The granted permissions as JSON text. */
  readonly permissions: string;
}

/** The latest time that a resource was asked for. Instants are epoch milliseconds. */
export interface LastRead {
  /** It was refused although the installation permits it, or the registry says that there is no such thing. */
  readonly declined: 'refused' | 'not_offered' | null;
  /** How often in a row. */
  readonly refusals: number;
  readonly attemptedAt: number | null;
  /** Start of the last complete read. */
  readonly completeAt: number | null;
  readonly durationMs: number;
  /** Its latest answer had another form than it has. */
  readonly isStrange: boolean;
  /** Rows to ask for a page, where the registry refuses as many as we ask for; null elsewhere. */
  readonly pageSize: number | null;
}

interface StateRow {
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
  findInstallation(id: string): KnownInstallation | null;
  listInstallations(): KnownInstallation[];
  lastRead(organizationId: string, resource: Resource): LastRead | null;
}

export function createStanding(db: Sqlite): Standing {
  const columns = 'id, organization_id AS organizationId, state, permissions';
  const find = db.prepare<[string], KnownInstallation>(`SELECT ${columns} FROM installations WHERE id = ?`);
  const list = db.prepare<[], KnownInstallation>(`SELECT ${columns} FROM installations ORDER BY id`);
  const last = db.prepare<[string, string], StateRow>(
    `SELECT CASE
       WHEN not_offered_at IS NOT NULL THEN 'not_offered'
       WHEN forbidden_at IS NOT NULL AND refusals > 0 THEN 'refused'
     END AS declined, refusals, attempted_at, complete_at, duration_ms, page_size,
       answer_text IS NOT NULL AS is_strange FROM resource_states
     WHERE organization_id = ? AND resource = ?`,
  );
  return {
    findInstallation: id => find.get(id) ?? null,
    listInstallations: () => list.all(),
    lastRead: (organizationId, resource) => {
      const row = last.get(organizationId, resource);
      if (row === undefined) return null;
      return {
        declined: row.declined,
        refusals: row.refusals,
        attemptedAt: milliseconds(row.attempted_at),
        completeAt: milliseconds(row.complete_at),
        durationMs: row.duration_ms ?? 0,
        isStrange: row.is_strange === 1,
        pageSize: row.page_size,
      };
    },
  };
}

function milliseconds(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}
