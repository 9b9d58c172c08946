import type { Mark, MirrorPort } from '../../../mirror/port.js';
import { formatInstant } from '../../../resources/columns.js';
import { LIST_RESOURCES } from '../../../resources/lists.js';
import type { Postgres } from '../open.js';
import { createCertificates } from './certificates.js';
import { FENCE, PREPARE_STATES } from './fence.js';
import { createWriteInstallation } from './installations.js';
import { createListRows } from './list-rows.js';
import { createListWork } from './list-writes.js';
import { createOrigin } from './origin.js';
import { createPages } from './pages.js';
import { createPeople } from './people.js';
import { createPerform, given } from './perform.js';
import { createProjects } from './projects.js';
import { createPruneSyncs } from './prune-syncs.js';
import { createRemoval } from './removal.js';
import { createSyncs, type Work } from './syncs.js';
import { createLastReads } from './last-reads.js';

const INTERRUPT_SYNCS = `
  UPDATE mirror.syncs SET state = 'failed', finished_at = ${given('at', 'timestamptz')},
    error_code = 'interrupted', error = 'the work was interrupted before it ended'
  WHERE state = 'running' AND organization_id = ${given('organization_id')} AND claim < ${given('claim', 'bigint')}
    AND (resource = 'certificates') = (${given('part')} = 'certificates')
  RETURNING '{}'::jsonb`;

/** Where it was not even asked for, what went wrong before is no matter any more. */
const MARKS: Readonly<Record<Mark, string>> = {
  forbidden: `forbidden_at = coalesce(forbidden_at, ${given('at', 'timestamptz')}), refusals = 0,
    not_offered_at = NULL, error_code = NULL, error = NULL`,
  refused: `forbidden_at = coalesce(forbidden_at, ${given('at', 'timestamptz')}), refusals = refusals + 1,
    not_offered_at = NULL`,
  not_offered: `not_offered_at = coalesce(not_offered_at, ${given('at', 'timestamptz')}), refusals = refusals + 1,
    forbidden_at = NULL`,
};

const markStatement = (how: Mark) => `
  UPDATE mirror.resource_states SET ${MARKS[how]}
  WHERE organization_id = ${given('organization_id')}
    AND resource IN (SELECT jsonb_array_elements_text($1 -> 'resources'))
  RETURNING '{}'::jsonb`;

/** One statement: two workers that count at once leave one of their counts. */
const KEEP_FINDINGS = `
  INSERT INTO mirror.finding_counts (finding, rows, counted_at)
  SELECT c.finding, c.rows, $2 FROM json_to_recordset($1) AS c (finding text, rows bigint) ORDER BY c.finding
  ON CONFLICT (finding) DO UPDATE SET rows = excluded.rows, counted_at = excluded.counted_at`;

const EXPECT = `
  WITH named AS (
    SELECT id, "organizationId" FROM json_to_recordset($1) AS n (id text, "organizationId" text)
  ),
  answered AS (
    DELETE FROM mirror.awaited_installations WHERE id IN (
      SELECT id FROM mirror.awaited_installations
      WHERE $3 AND known_at < $2 AND id NOT IN (SELECT id FROM named) ORDER BY id FOR UPDATE)
  )
  INSERT INTO mirror.awaited_installations AS a (id, organization_id, known_at)
  SELECT id, "organizationId", $2 FROM named
  WHERE id NOT IN (SELECT id FROM mirror.installations) ORDER BY id
  ON CONFLICT (id) DO UPDATE SET organization_id = excluded.organization_id
  WHERE a.organization_id IS NULL AND excluded.organization_id IS NOT NULL`;

/** The mirror in a PostgreSQL that has been migrated. */
export function createMirrorPort(postgres: Postgres): MirrorPort {
  const { query } = postgres;
  const perform = createPerform(query);
  const syncs = createSyncs(postgres, perform);
  const works = new Map<string, ReturnType<typeof createListWork>>(
    LIST_RESOURCES.map(name => [name, createListWork(name)]),
  );

  return {
    ...createOrigin(postgres),
    raiseFence: async ({ organizationId, part, claim }, at) => {
      const whose = { organization_id: organizationId, part, claim, at: formatInstant(at) };
      await perform([...FENCE, INTERRUPT_SYNCS], whose);
    },
    highestClaim: async () => {
      const [row] = await query<{ claim: number | null }>('SELECT max(claim) AS claim FROM mirror.fences');
      return row?.claim ?? 0;
    },
    ...createLastReads(postgres),
    writeInstallation: createWriteInstallation(perform),
    mark: async (how, { organizationId, part, claim }, resources, at) => {
      await perform([...FENCE, PREPARE_STATES, markStatement(how)], {
        organization_id: organizationId,
        part,
        claim,
        resources,
        at: formatInstant(at),
      });
    },
    begin: syncs.begin,
    pages: createPages(postgres),
    ...createListRows(postgres),
    commit: async (sync, changes, ending) => {
      const work = works.get(sync.request.resource)?.(changes, sync) ?? NO_WORK;
      const { answer, ...done } = await syncs.commit<{ versions?: readonly number[] }>(sync, work, ending);
      return { ...done, versions: answer.versions ?? [] };
    },
    closeSync: syncs.closeRow,
    ...createPeople(postgres),
    ...createProjects(postgres, syncs),
    ...createCertificates(postgres, perform, syncs),
    // Who sees the mirror sees the inbox too, by the view `freshness`: nothing is looked through, and nothing copied.
    expect: async (named, at, areAll) => void (await query(EXPECT, [JSON.stringify(named), at, areAll])),
    freshnessFacts: async () => ({ workerSeenAt: null, oldestRead: null, announced: [] }),
    knownResources: async () => new Map(),
    keepFreshnessFacts: async (_facts, workerSeenAt) => {
      await query('UPDATE mirror.origin SET worker_seen_at = $1', [workerSeenAt]);
    },
    keepFindings: async (counts, at) => void (await query(KEEP_FINDINGS, [JSON.stringify(counts), at])),
    ...createRemoval(postgres, perform),
    pruneSyncs: createPruneSyncs(postgres),
    close: postgres.close,
  };
}

const NO_WORK: Work = { statements: [], given: {} };
