import type { KnownInstallation, LastRead, MirrorPort } from '../../../mirror/port.js';
import type { Resource } from '../../../resources/lists.js';
import type { Postgres } from '../open.js';

interface StateRow {
  readonly resource: Resource;
  readonly declined: LastRead['declined'];
  readonly refusals: number;
  readonly attempted_at: string | null;
  readonly complete_at: string | null;
  readonly duration_ms: number | null;
  readonly page_size: number | null;
  readonly is_strange: boolean;
}

const KNOWN = `SELECT id, organization_id AS "organizationId", state, permissions FROM mirror.installations`;

/** What whoever reads the registry must know of the mirror beforehand. Nothing here writes. */
export function createStanding({
  query,
}: Postgres): Pick<MirrorPort, 'findInstallation' | 'listInstallations' | 'lastReads'> {
  return {
    findInstallation: async id => (await query<KnownInstallation>(`${KNOWN} WHERE id = $1`, [id]))[0] ?? null,
    listInstallations: () => query<KnownInstallation>(`${KNOWN} ORDER BY id`),
    lastReads: async organizationId => {
      const rows = await query<StateRow>(
        `SELECT resource, CASE
           WHEN not_offered_at IS NOT NULL THEN 'not_offered'
           WHEN forbidden_at IS NOT NULL AND refusals > 0 THEN 'refused'
         END AS declined, refusals, attempted_at, complete_at, duration_ms, page_size,
           answer_text IS NOT NULL AS is_strange
         FROM mirror.resource_states WHERE organization_id = $1`,
        [organizationId],
      );
      return new Map(rows.map(row => [row.resource, lastRead(row)] as const));
    },
  };
}

function lastRead(row: StateRow): LastRead {
  return {
    declined: row.declined,
    refusals: row.refusals,
    attemptedAt: milliseconds(row.attempted_at),
    completeAt: milliseconds(row.complete_at),
    durationMs: row.duration_ms ?? 0,
    isStrange: row.is_strange,
    pageSize: row.page_size,
  };
}

function milliseconds(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}
