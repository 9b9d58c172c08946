import type { MirrorPort } from '../../mirror/port.js';
import type { Database } from '../database.js';
import { statement } from '../statement.js';

type Named = { readonly named: string; readonly at: string };

const AWAITED = { id: 'text', organization_id: 'text' } as const;
const ANSWERED = statement<Named>(
  ({ rows, forUpdate }) =>
    `DELETE FROM mirror.awaited_installations WHERE id IN (
       SELECT id FROM mirror.awaited_installations
       WHERE known_at < @at AND id NOT IN (SELECT named.id FROM ${rows('@named', 'named', AWAITED)})
       ORDER BY id ${forUpdate})`,
);
const EXPECT = statement<Named>(
  ({ rows, as }) =>
    `INSERT INTO mirror.awaited_installations AS a (id, organization_id, known_at)
     SELECT named.id, named.organization_id, ${as('instant', '@at')} FROM ${rows('@named', 'named', AWAITED)}
     WHERE named.id NOT IN (SELECT id FROM mirror.installations) ORDER BY named.id
     ON CONFLICT (id) DO UPDATE SET organization_id = excluded.organization_id
     WHERE a.organization_id IS NULL AND excluded.organization_id IS NOT NULL`,
);

const COUNTS = { finding: 'text', rows: 'int' } as const;
const FORGET_FINDINGS = statement<{ counts: string }>(
  ({ rows }) =>
    `DELETE FROM mirror.finding_counts
     WHERE finding NOT IN (SELECT c.finding FROM ${rows('@counts', 'c', COUNTS)})`,
);
const KEEP_FINDINGS = statement<{ counts: string; at: string }>(
  ({ rows, as }) =>
    `INSERT INTO mirror.finding_counts (finding, rows, counted_at)
     SELECT c.finding, c.rows, ${as('instant', '@at')} FROM ${rows('@counts', 'c', COUNTS)} WHERE true ORDER BY c.finding
     ON CONFLICT (finding) DO UPDATE SET rows = excluded.rows, counted_at = excluded.counted_at`,
);

/** What a worker tells those who see the mirror alone. */
export function createFacts({ transact }: Database): Pick<MirrorPort, 'expect' | 'keepFindings'> {
  return {
    expect: async (installations, at, areAll) => {
      const named = JSON.stringify(installations.map(({ id, organizationId }) => [id, organizationId]));
      await transact(batch => batch(areAll ? ANSWERED({ named, at }) : null, EXPECT({ named, at })));
    },
    keepFindings: async (findings, at) => {
      const counts = JSON.stringify(findings.map(({ finding, rows }) => [finding, rows]));
      await transact(batch => batch(FORGET_FINDINGS({ counts }), KEEP_FINDINGS({ counts, at })));
    },
  };
}
