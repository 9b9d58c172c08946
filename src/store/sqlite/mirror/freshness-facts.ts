import type { FreshnessFact, KnownResource, MirrorPort } from '../../../mirror/port.js';
import type { Database } from '../../database.js';
import { fixed, statement } from '../../statement.js';

const READ = `
  SELECT r.organization_id AS organizationId, r.resource, r.complete_at AS completeAt, a.oldest_unread_at AS oldestUnreadAt
  FROM resource_states AS r
  LEFT JOIN freshness_facts AS a ON a.organization_id = r.organization_id AND a.resource = r.resource
  WHERE r.complete_at IS NOT NULL AND r.no_permission_at IS NULL AND r.not_offered_at IS NULL
    AND r.resource <> 'certificates'`;

const SEEN = fixed<{ readonly at: string | null }>('SELECT worker_seen_at AS at FROM origin');
const OLDEST = fixed<{ readonly at: string | null }>('SELECT min(complete_at) AS at FROM resource_states');
const ANNOUNCED = fixed<KnownResource>(
  `${READ} AND a.oldest_unread_at IS NOT NULL
   AND r.organization_id IN (SELECT organization_id FROM installations WHERE state = 'active')`,
);
const RESOURCES_OF = statement<{ id: string }, KnownResource>(
  `${READ} AND r.organization_id =
     (SELECT organization_id FROM installations WHERE id = @id AND state = 'active')`,
);
const ALL = fixed<FreshnessFact>(
  'SELECT organization_id AS organizationId, resource, oldest_unread_at AS oldestUnreadAt FROM freshness_facts',
);
const PUT = statement<{ organizationId: string; resource: string; oldestUnreadAt: string }>(
  `INSERT INTO freshness_facts VALUES (@organizationId, @resource, @oldestUnreadAt)
   ON CONFLICT DO UPDATE SET oldest_unread_at = excluded.oldest_unread_at`,
);
const REMOVE = statement<{ organizationId: string; resource: string }>(
  'DELETE FROM freshness_facts WHERE organization_id = @organizationId AND resource = @resource',
);
const SEE = statement<{ at: string }>('UPDATE origin SET worker_seen_at = @at');

/** What a worker tells of the inbox to those who see the mirror alone. */
export function createFreshnessFacts({
  look,
  transact,
}: Database): Pick<MirrorPort, 'freshnessFacts' | 'knownResources' | 'keepFreshnessFacts'> {
  return {
    freshnessFacts: async () => {
      const [[seen], [oldest], announced] = await look(SEEN, OLDEST, ANNOUNCED);
      return { workerSeenAt: seen?.at ?? null, oldestRead: oldest?.at ?? null, announced };
    },
    knownResources: async ids => {
      const found = await look(...ids.map(id => RESOURCES_OF({ id })));
      return new Map(ids.map((id, index) => [id, found[index] ?? []]));
    },
    keepFreshnessFacts: (facts, at) =>
      transact(async batch => {
        const [all] = await batch(ALL);
        const before = new Map(all.map(row => [keyOf(row), row]));
        const fresh = facts.filter(row => before.get(keyOf(row))?.oldestUnreadAt !== row.oldestUnreadAt);
        for (const row of facts) before.delete(keyOf(row));
        await batch(
          ...fresh.map(({ organizationId, resource, oldestUnreadAt }) =>
            PUT({ organizationId, resource, oldestUnreadAt }),
          ),
          ...[...before.values()].map(({ organizationId, resource }) => REMOVE({ organizationId, resource })),
          SEE({ at }),
        );
      }),
  };
}

function keyOf({ organizationId, resource }: FreshnessFact): string {
  return `${organizationId} ${resource}`;
}
