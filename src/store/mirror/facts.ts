import type { UnreadDelivery, KnownResource, MirrorPort } from '../../mirror/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { Table } from '../dialect.js';
import { fixed, statement, type Database } from '../statement.js';
import { LOCK_COUNTER } from './people.js';
import { kindsOf } from './versions.js';

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
const FORGET_FINDINGS = statement<{ known: string }>(
  ({ rows }) =>
    `DELETE FROM mirror.finding_counts
     WHERE finding NOT IN (SELECT k.finding FROM ${rows('@known', 'k', { finding: 'text' })})`,
);
const KEEP_FINDINGS = statement<{ counts: string; at: string }>(
  ({ rows, as }) =>
    `INSERT INTO mirror.finding_counts (finding, rows, counted_at)
     SELECT c.finding, c.rows, ${as('instant', '@at')} FROM ${rows('@counts', 'c', COUNTS)} WHERE true ORDER BY c.finding
     ON CONFLICT (finding) DO UPDATE SET rows = excluded.rows, counted_at = excluded.counted_at`,
);

const WHAT_WAITS = `SELECT r.organization_id AS "organizationId", r.resource, r.as_of AS "dataAsOf",
    a.oldest_unread_at AS "oldestUnreadAt"
  FROM mirror.resource_states AS r
  LEFT JOIN mirror.freshness_facts AS a ON a.organization_id = r.organization_id AND a.resource = r.resource
  WHERE r.as_of IS NOT NULL AND r.no_permission_at IS NULL AND r.not_offered_at IS NULL
    AND r.resource NOT IN ('certificates', 'projects')`;
const ACTIVE = "SELECT organization_id FROM mirror.installations WHERE state = 'active'";

type Seen = { readonly workerSeenAt: string | null; readonly oldestRead: string | null };
/** In one statement, so that what waits is what whoever was seen then has told. */
const SEEN = fixed<Seen & (KnownResource | { readonly organizationId: null })>(
  `SELECT o.worker_seen_at AS "workerSeenAt", (SELECT min(as_of) FROM mirror.resource_states WHERE resource <> 'projects') AS "oldestRead", w.*
   FROM (SELECT max(worker_seen_at) AS worker_seen_at FROM mirror.origin) AS o
   LEFT JOIN (${WHAT_WAITS} AND a.oldest_unread_at IS NOT NULL AND r.organization_id IN (${ACTIVE})) AS w ON true`,
);
const RESOURCES_OF = statement<{ id: string }, KnownResource>(
  `${WHAT_WAITS} AND r.organization_id IN (${ACTIVE} AND id = @id)`,
);
const FACTS = kindsOf('freshness_facts', ['organization_id', 'resource', 'oldest_unread_at']);
const FORGET_FACTS = statement<{ facts: Table }>(
  ({ rows }) =>
    `DELETE FROM mirror.freshness_facts
     WHERE (organization_id, resource) NOT IN (SELECT f.organization_id, f.resource FROM ${rows('@facts', 'f', FACTS)})`,
);
const KEEP_FACTS = statement<{ facts: Table }>(
  ({ rows }) =>
    `INSERT INTO mirror.freshness_facts AS a (organization_id, resource, oldest_unread_at)
     SELECT f.organization_id, f.resource, f.oldest_unread_at FROM ${rows('@facts', 'f', FACTS)} WHERE true
     ON CONFLICT (organization_id, resource) DO UPDATE SET oldest_unread_at = excluded.oldest_unread_at
     WHERE a.oldest_unread_at <> excluded.oldest_unread_at`,
);
const NOTE_LISTED = statement<{ listedAt: string }>('UPDATE mirror.origin SET listed_at = @listedAt');
const SEE = statement<{ at: string }>('UPDATE mirror.origin SET worker_seen_at = @at');

function factsOf(facts: readonly UnreadDelivery[]): Table {
  const rows = facts.map(({ organizationId, resource, oldestUnreadAt }) => [
    organizationId,
    resource,
    oldestUnreadAt,
  ]);
  return { columns: FACTS, rows };
}

/** What a worker tells those who see the mirror alone. */
export function createFacts({
  look,
  transact,
}: Database): Pick<MirrorPort, 'readFreshnessFacts' | 'listKnownResources' | 'report'> {
  return {
    readFreshnessFacts: async () => {
      const [rows] = await look(SEEN);
      const { workerSeenAt = null, oldestRead = null } = rows[0] ?? {};
      const announced = rows.flatMap(row => (row.organizationId === null ? [] : [row]));
      return { workerSeenAt, oldestCompleteReadAt: oldestRead, waitingResources: announced };
    },
    listKnownResources: async ids => {
      const found = await look(...ids.map(id => RESOURCES_OF({ id })));
      return new Map(ids.map((id, index) => [id, found[index] ?? []]));
    },
    /** What waits is told under the lock of all who remove it. */
    report: async ({
      at,
      awaitedInstallations: named,
      unreadDeliveries: unread,
      findings,
      knownFindings = findings?.map(({ finding }) => finding),
      listedAt,
    }) => {
      const names = named && JSON.stringify(named.map(({ id, organizationId }) => [id, organizationId]));
      const counts = findings && JSON.stringify(findings.map(({ finding, rows }) => [finding, rows]));
      const known = JSON.stringify(knownFindings?.map(finding => [finding]));
      const facts = unread && factsOf(unread);
      await transact(batch =>
        batch(
          names !== undefined && facts !== undefined ? ANSWERED({ named: names, at }) : null,
          names === undefined ? null : EXPECT({ named: names, at }),
          ...(facts === undefined
            ? []
            : [LOCK_COUNTER(), FORGET_FACTS({ facts }), KEEP_FACTS({ facts }), SEE({ at })]),
          ...(counts === undefined ? [] : [FORGET_FINDINGS({ known }), KEEP_FINDINGS({ counts, at })]),
          listedAt === undefined ? null : NOTE_LISTED({ listedAt: formatInstant(listedAt) }),
        ),
      );
    },
  };
}
