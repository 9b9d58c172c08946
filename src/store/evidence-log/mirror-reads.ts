import { type RawBuilder, sql } from 'kysely';
import { createLeafInput, type EvidencePort, type LeafInput } from '../../evidence/port.js';
import type { SqlBuilder } from '../sql/builder.js';
import { tableRef } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { EvidenceDatabase } from './evidence-database.js';

/** Numbers of changes, syncs or spans: those above `after`, up to and including `to`. */
export type NumberRange = { readonly after: number; readonly to: number };

/** Functions that read, for the evidence log, the mirror's records of when it read the registry. */
interface MirrorReads
  extends Pick<EvidencePort, 'findNewestNumber' | 'listOpenSpans' | 'readSyncsKeptSince' | 'listCoverage'> {
  /** Reads the syncs with ids in a range, as leaf inputs. */
  readonly listSyncs: (range: NumberRange) => Promise<LeafInput[]>;
  /** Reads the ended spans of unchanged reads with ids in a range, as leaf inputs. An ended span never changes. */
  readonly listEndedSpans: (range: NumberRange) => Promise<LeafInput[]>;
}

const origin = tableRef('mirror.origin');
const sync = tableRef('mirror.syncs');
const span = tableRef('mirror.unchanged_spans');
const read = tableRef('mirror.unchanged_reads');

/**
 * Returns the SQL condition that an instant is after the simulated past of a demo. Nothing of that past was observed, so it must
 * not get into the evidence log.
 */
export function isAfterSimulation(instant: RawBuilder<string | null>): RawBuilder<boolean> {
  return sql`(${instant} > (SELECT ${origin.simulated_until} FROM ${origin()})) IS NOT FALSE`;
}

const LIST_SYNCS = prepared(({ db }, { after, to }: Params<NumberRange>) =>
  db
    .selectFrom('mirror.syncs')
    .selectAll()
    .where('id', '>', after)
    .where('id', '<=', to)
    .where(isAfterSimulation(sync.started_at))
    .orderBy('id'),
);
const LIST_ENDED_SPANS = prepared(({ db }, { after, to }: Params<NumberRange>) =>
  db
    .selectFrom('mirror.unchanged_spans')
    .selectAll()
    .where('id', '>', after)
    .where('id', '<=', to)
    .where(isAfterSimulation(span.first_started_at))
    .orderBy('id'),
);
const selectOpenSpans = ({ db }: SqlBuilder) =>
  db
    .selectFrom('mirror.unchanged_reads')
    .select([
      'organization_id',
      'resource',
      'first_started_at',
      'first_finished_at',
      'last_started_at',
      'last_finished_at',
      'reads',
      'requests',
      'bytes',
    ])
    .where('is_open', '=', 1)
    .where(isAfterSimulation(read.first_started_at))
    .orderBy('organization_id')
    .orderBy('resource');
const LIST_OPEN_SPANS = prepared(selectOpenSpans);
const LIST_OPEN_SPANS_OF_ORGANIZATION = prepared(
  (builder, { organizationId }: Params<{ readonly organizationId: string }>) =>
    selectOpenSpans(builder).where('organization_id', '=', organizationId),
);
const LIST_COVERAGE = prepared(({ db }) =>
  db.selectFrom('mirror.coverage').selectAll().orderBy('installation_id'),
);
const READ_SYNCS_KEPT_SINCE = prepared(({ db }) =>
  db.selectFrom('mirror.origin').select('syncs_kept_since_at'),
);

const FIND_NEWEST_CHANGE = prepared(({ db }) =>
  db.selectFrom('mirror.version_counter').select('last as newest'),
);
const FIND_NEWEST_SPAN = prepared(({ db }) =>
  db.selectFrom('mirror.unchanged_spans').select(({ fn }) => fn.max('id').as('newest')),
);
/** Finds the highest id, after `after`, of a sync that has ended like all syncs before it. */
const FIND_NEWEST_SYNC = prepared(({ db }, { after }: Params<{ readonly after: number }>) =>
  db
    .selectFrom('mirror.syncs')
    .select(
      sql<
        number | null
      >`coalesce(min(CASE WHEN ${sync.finished_at} IS NULL THEN ${sync.id} END) - 1, max(${sync.id}))`.as(
        'newest',
      ),
    )
    .where('id', '>', after),
);

/** Returns the columns that leaves about reads have: syncs and spans of unchanged reads. */
function createReadColumns(
  {
    organization_id: subject,
    resource,
  }: { readonly organization_id: string | null; readonly resource: string },
  startedAt: string,
  isComplete: boolean,
) {
  return { subject, resource, read_at: startedAt, is_complete: Number(isComplete) };
}

/**
 * Creates the functions through which the evidence log learns when the mirror read the registry. They read syncs, spans (times in which
 * repeated reads found nothing new), and the coverage (the id, name and state of each known organization, and of its installation).
 */
export function createMirrorReads({ readMirror }: EvidenceDatabase): MirrorReads {
  return {
    listSyncs: async range => {
      const [rows] = await readMirror(LIST_SYNCS(range));
      return rows.map(row =>
        createLeafInput('sync', row, {
          ...createReadColumns(row, row.started_at, row.state === 'complete'),
          number: row.id,
        }),
      );
    },
    listEndedSpans: async range => {
      const [rows] = await readMirror(LIST_ENDED_SPANS(range));
      return rows.map(row =>
        createLeafInput('unchanged', row, {
          ...createReadColumns(row, row.last_started_at, true),
          number: row.id,
        }),
      );
    },
    findNewestNumber: async (kind, after) => {
      const newest =
        kind === 'change'
          ? FIND_NEWEST_CHANGE()
          : kind === 'unchanged'
            ? FIND_NEWEST_SPAN()
            : FIND_NEWEST_SYNC({ after });
      const [[row]] = await readMirror(newest);
      return row?.newest ?? 0;
    },
    listOpenSpans: async organizationId => {
      const [rows] = await readMirror(
        organizationId === null ? LIST_OPEN_SPANS() : LIST_OPEN_SPANS_OF_ORGANIZATION({ organizationId }),
      );
      return rows.map(row =>
        createLeafInput('open_span', row, createReadColumns(row, row.last_started_at, true)),
      );
    },
    readSyncsKeptSince: async () => {
      const [[kept]] = await readMirror(READ_SYNCS_KEPT_SINCE());
      return kept?.syncs_kept_since_at ?? null;
    },
    listCoverage: async () => {
      const [rows] = await readMirror(LIST_COVERAGE());
      return rows.map(row =>
        createLeafInput('coverage', row, { subject: row.organization_id ?? row.installation_id }),
      );
    },
  };
}
