import { sql } from 'kysely';
import type { Sqlite } from '../open.js';
import { parameter, statement } from '../statement.js';
import { raw } from './queries.js';

/** An accepted delivery. */
export interface Announced {
  readonly installationId: string;
  readonly receivedAt: string;
}

interface Row {
  readonly id: number;
  readonly installationId: string | null;
  readonly receivedAt: string;
  readonly verdict: string;
}

type Bounds = { from: string; until: string; after: number };

/** Looked at without a pause; as many take some milliseconds. */
const SLICE = 2000;

export interface AnnouncedSlices {
  /**
   * What arrived from one instant to the other, both included, oldest first, in slices between which others may go on.
   * Of repeats that share a row: the first, and the first that came after a read had begun.
   */
  deliveriesBetween(from: string, until: string): Iterable<readonly Announced[]>;
}

/**
 * By the index of arrival alone: one by installation would cost the receiver a fifth of what it takes,
 * and twice as many bytes in the log.
 */
export function createAnnounced(db: Sqlite): AnnouncedSlices {
  const slice = statement<Bounds, Row>(
    db,
    raw(sql<Row>`${cameBetween('received_at')} UNION ALL ${cameBetween('unread_at')}
      ORDER BY receivedAt, id LIMIT ${sql.lit(SLICE)}`),
  );
  return {
    *deliveriesBetween(from, until) {
      let bounds: Bounds = { from, until, after: 0 };
      for (;;) {
        const rows = slice.all(bounds);
        yield rows.flatMap(announced);
        const last = rows.at(-1);
        if (last === undefined || rows.length < SLICE) return;
        bounds = { from: last.receivedAt, until, after: last.id };
      }
    },
  };
}

/** Each by its index, merged as they are read. */
function cameBetween(column: 'received_at' | 'unread_at') {
  const at = sql.ref(column);
  return sql`SELECT id, installation_id AS installationId, ${at} AS receivedAt, verdict FROM deliveries
    WHERE ${at} >= ${parameter('from')} AND ${at} <= ${parameter('until')}
      AND (${at}, id) > (${parameter('from')}, ${parameter('after')})`;
}

function announced({ installationId, receivedAt, verdict }: Row): Announced[] {
  return verdict === 'accepted' && installationId !== null ? [{ installationId, receivedAt }] : [];
}
