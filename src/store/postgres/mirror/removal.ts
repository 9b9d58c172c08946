import type { MirrorPort } from '../../../mirror/port.js';
import { MEMBERS, PURGED, REST, type Rows } from '../../purged-tables.js';
import type { Postgres, Query } from '../open.js';
import { FENCE } from './fence.js';
import { HOLD_COUNTER } from './people.js';
import { createPerform, given, type Perform } from './perform.js';

const SLICE = 500;

/** Both parts, always in this order. */
const HOLD_BOTH = FENCE.flatMap(statement =>
  ['certificates', 'data'].map(part => statement.replaceAll(given('part'), `'${part}'`)),
);

const FREEZE = `
  UPDATE mirror.installations SET state = 'uninstalled' WHERE organization_id = ${given('organization_id')}
  RETURNING '{}'::jsonb`;

const LAST = `SELECT jsonb_build_object('last', last) FROM mirror.version_counter`;

/** Those that no other organization has too. */
const OWN_RETIREMENTS = `
  SELECT id FROM (${knownRetirements('=')}) AS theirs EXCEPT SELECT id FROM (${knownRetirements('<>')}) AS others`;

const REMOVE_UNNAMED = `
  WITH gone AS (
    DELETE FROM mirror.certificate_pieces AS p WHERE file = ANY ($1::text[])
      AND NOT EXISTS (SELECT 1 FROM mirror.certificates AS c WHERE c.file = p.file)
      AND NOT EXISTS (SELECT 1 FROM mirror.past AS c WHERE c.resource = 'certificates' AND c.cells ->> 'file' = p.file)
    RETURNING file
  )
  SELECT count(DISTINCT file) AS files FROM gone`;

type RemovalOperations = Pick<
  MirrorPort,
  'beginPurge' | 'purgeRows' | 'endPurge' | 'removeMembers' | 'removeUnnamedFiles'
>;

/**
 * Everything that was mirrored for one organization goes, history included. Fences stay, so that an old claim cannot
 * write it back. What reads write meanwhile goes too, in one last transaction, from which on every read that had begun
 * before is refused: it may have held its answers against rows that are gone.
 */
export function createRemoval(postgres: Postgres, perform: Perform): RemovalOperations {
  const { query, transact } = postgres;

  /** Under the lock of all who make a row name a file. */
  async function removeLocked(ask: Query, names: readonly string[]): Promise<number> {
    const [gone] = await ask<{ files: number }>(REMOVE_UNNAMED, [names]);
    return gone?.files ?? 0;
  }

  return {
    beginPurge: async (organizationId, claim) => {
      const { last } = await perform<{ last: number }>([...HOLD_BOTH, FREEZE, LAST], {
        organization_id: organizationId,
        claim,
      });
      const own = await query<{ id: string }>(OWN_RETIREMENTS, [organizationId]);
      return { last, retirementIds: own.map(({ id }) => id) };
    },
    purgeRows: async (organizationId, last, which) => {
      const removed = await removeSome(query, PURGED[which], 'AND version <= $2', [organizationId, last]);
      if (removed > 0 || which === 'certificates') return removed;
      return removeSome(query, [['syncs', 'organization_id = ?']], '', [organizationId]);
    },
    endPurge: (organizationId, last, claim) =>
      transact(async ask => {
        await createPerform(ask)(HOLD_BOTH, { organization_id: organizationId, claim });
        await ask(HOLD_COUNTER);
        const named = await ask<{ file: string }>(
          'SELECT DISTINCT file FROM mirror.certificates_history WHERE organization_id = $1 AND file IS NOT NULL',
          [organizationId],
        );
        const installations = await ask<{ id: string }>(
          `SELECT id FROM mirror.installations
           WHERE organization_id = $1 AND version > $2 AND state <> 'uninstalled' ORDER BY id`,
          [organizationId, last],
        );
        for (const [table, which] of REST) {
          await ask(`DELETE FROM mirror.${table} WHERE ${numbered(which)}`, [organizationId]);
        }
        const removed = await removeLocked(
          ask,
          named.map(({ file }) => file),
        );
        return { files: removed, installations: installations.map(({ id }) => id) };
      }),
    removeMembers: async () => {
      const removed = await removeSome(query, MEMBERS, '', []);
      if (removed > 0) return removed;
      await query("DELETE FROM mirror.resource_states WHERE resource = 'members'");
      return 0;
    },
    removeUnnamedFiles: names =>
      transact(async ask => {
        await ask(HOLD_COUNTER);
        return await removeLocked(ask, names);
      }),
  };
}

/** Of the first that has some. */
async function removeSome(
  query: Query,
  tables: readonly Rows[],
  only: string,
  values: readonly (string | number)[],
): Promise<number> {
  for (const [table, which] of tables) {
    const removed = await query(
      `DELETE FROM mirror.${table} WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM mirror.${table} WHERE ${numbered(which)} ${only} LIMIT ${SLICE})) RETURNING 1`,
      values,
    );
    if (removed.length > 0) return removed.length;
  }
  return 0;
}

function numbered(which: string): string {
  return which.replace('?', '$1');
}

function knownRetirements(whose: string): string {
  return `SELECT id FROM mirror.retirements_history WHERE organization_id ${whose} $1
    UNION SELECT retirement_id FROM mirror.certificates_history WHERE organization_id ${whose} $1`;
}
