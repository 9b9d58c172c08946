import { sql } from 'kysely';
import type { EventsPort, Evaluation, NewOccurrence } from '../../events/port.js';
import { type CellsOf, type Params, prepared } from '../sql/prepared.js';
import type { RunBatch } from '../statement.js';
import type { EventsDatabase } from './events-database.js';

type Occurrences = Pick<
  EventsPort,
  'listOccurrences' | 'findOccurrenceBefore' | 'record' | 'evaluate' | 'prune'
>;

type Range = { readonly after: number; readonly to: number; readonly limit: number };
const LIST_RANGE = prepared(({ db, fn }, { after, to, limit }: Params<Range>) =>
  db
    .selectFrom('events.occurrences')
    .selectAll()
    .where('number', '>', after)
    .where('number', '<=', to)
    .orderBy('number')
    .limit(fn.cast('int', limit)),
);
const FIND_BEFORE = prepared(({ db }, { instant }: Params<{ readonly instant: string }>) =>
  db
    .selectFrom('events.occurrences')
    .select(eb => eb.fn.max('number').as('number'))
    .where('occurred_at', '<', instant),
);

/** Locks the counter of occurrences, so that their numbers follow the order of commits. */
const LOCK_NUMBERS = prepared(({ db }) =>
  db.selectFrom('events.epochs').select(['newest_occurrence as last', 'evaluated_at']).forUpdate(),
);
const SET_LAST = prepared(({ db }, { last }: Params<{ readonly last: number }>) =>
  db.updateTable('events.epochs').set({ newest_occurrence: last }),
);
const SET_EVALUATED = prepared(({ db }, { at }: Params<{ readonly at: string }>) =>
  db.updateTable('events.epochs').set({ evaluated_at: at }),
);
type NumberedOccurrence = CellsOf<NewOccurrence> & { readonly number: number };
const INSERT = prepared(
  ({ db }, { number, type, organization_id, subject, detail, occurred_at }: Params<NumberedOccurrence>) =>
    db
      .insertInto('events.occurrences')
      .values({ number, type, organization_id, subject, detail, occurred_at })
      .onConflict(conflict => conflict.doNothing())
      .returning('number'),
);
type ListKey = { readonly organization_id: string; readonly resource: string };
const LIST_STALE = prepared(({ db }) => db.selectFrom('events.stale_lists').selectAll());
const INSERT_STALE = prepared(({ db }, { organization_id, resource }: Params<ListKey>) =>
  db.insertInto('events.stale_lists').values({ organization_id, resource }),
);
const DELETE_STALE = prepared(({ db }, { organization_id, resource }: Params<ListKey>) =>
  db
    .deleteFrom('events.stale_lists')
    .where('organization_id', '=', organization_id)
    .where('resource', '=', resource),
);
const PRUNE = [
  prepared(({ db }, { before }: Params<{ readonly before: string }>) =>
    db.deleteFrom('events.event_attempts').where('attempted_at', '<', before),
  ),
  /** Keeps occurrences that a subscription has not settled yet. */
  prepared(({ db }, { before }: Params<{ readonly before: string }>) =>
    db
      .deleteFrom('events.occurrences')
      .where('occurred_at', '<', before)
      .where(
        'number',
        '<=',
        sql<number>`coalesce((SELECT min(occurrence_cursor) FROM ${sql.table('events.subscriptions')}), 0)`,
      )
      .where(
        'number',
        '<=',
        sql<number>`coalesce((SELECT min(occurrence_position) FROM ${sql.table('events.held_organizations')}), number)`,
      ),
  ),
];

/**
 * Inserts occurrences, which are events other than changes of rows. Their numbers follow `lastNumber`. Skips occurrences that are
 * already stored, and returns how many were new.
 */
async function insertOccurrences(
  batch: RunBatch,
  lastNumber: number,
  occurrences: readonly NewOccurrence[],
): Promise<number> {
  if (occurrences.length === 0) return 0;
  const inserts = occurrences.map((occurrence, index) =>
    INSERT({ ...occurrence, number: lastNumber + 1 + index }),
  );
  const inserted = await batch(...inserts);
  await batch(SET_LAST({ last: lastNumber + occurrences.length }));
  return inserted.flat().length;
}

const keyOf = ({ organization_id, resource }: ListKey) => JSON.stringify([organization_id, resource]);

/** Finds the lists that became stale or recovered since the previous evaluation, and creates an event for each. */
function findFreshnessChanges(evaluation: Evaluation, previouslyStale: readonly ListKey[]) {
  const wasStale = new Set(previouslyStale.map(keyOf));
  const becameStale = evaluation.staleLists.filter(list => !wasStale.has(keyOf(list)));
  const recovered = evaluation.freshLists.filter(list => wasStale.has(keyOf(list)));
  const toOccurrence = (type: string, { organization_id, resource }: ListKey, detail: string) => ({
    type,
    organization_id,
    detail,
    subject: resource,
    occurred_at: evaluation.at,
  });
  return {
    becameStale,
    recovered,
    occurrences: [
      ...becameStale.map(list => toOccurrence('freshness.stale', list, list.reason)),
      ...recovered.map(list => toOccurrence('freshness.recovered', list, '')),
    ],
  };
}

/**
 * Creates the methods of `EventsPort` for occurrences: events that are not changes of rows, such as a list that became stale.
 */
export function createOccurrences({ read, transact }: EventsDatabase): Occurrences {
  return {
    listOccurrences: async range => (await read(LIST_RANGE({ ...range })))[0],
    findOccurrenceBefore: async instant => (await read(FIND_BEFORE({ instant })))[0][0]?.number ?? 0,
    record: occurrences =>
      transact(async batch => {
        const [[numbers]] = await batch(LOCK_NUMBERS());
        return numbers === undefined ? 0 : await insertOccurrences(batch, numbers.last, occurrences);
      }),
    evaluate: evaluation =>
      transact(async batch => {
        const [[numbers], previouslyStale] = await batch(LOCK_NUMBERS(), LIST_STALE());
        if (numbers === undefined) return null;
        if (numbers.evaluated_at !== null && numbers.evaluated_at > evaluation.dueBefore) return null;
        const { becameStale, recovered, occurrences } = findFreshnessChanges(evaluation, previouslyStale);
        await batch(
          SET_EVALUATED({ at: evaluation.at }),
          ...becameStale.map(({ organization_id, resource }) => INSERT_STALE({ organization_id, resource })),
          ...recovered.map(({ organization_id, resource }) => DELETE_STALE({ organization_id, resource })),
        );
        return await insertOccurrences(batch, numbers.last, [...occurrences, ...evaluation.failedJobs]);
      }),
    prune: before => transact(async batch => void (await batch(...PRUNE.map(prune => prune({ before }))))),
  };
}
