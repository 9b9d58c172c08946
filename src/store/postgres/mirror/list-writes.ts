import { hashesOf } from '../../../mirror/people.js';
import type { Changes, Insert, OpenSync } from '../../../mirror/port.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Entry } from '../../../resources/entry.js';
import { type ListResource, LISTS } from '../../../resources/lists.js';
import { enterStatement } from './enter-rows.js';
import { NUMBER } from './fence.js';
import { PUT_PAGES } from './pages.js';
import { given, known, SYNC } from './perform.js';
import { RETIREMENT_VANISHES } from './retirements.js';
import type { Work } from './syncs.js';
import { archived, cellsByName, names, sameKey, typedColumns } from './versions.js';

const NEXT = "interval '1 millisecond'";

/**
 * Inserts and what they take the place of, in one statement. What one read saw of one row is a chain: its first takes the
 * place of what stands there, each later one of the one before, and only the last stands there at the end. Instants rise
 * within a chain, and from what was there.
 */
function writeStatement(resource: ListResource): string {
  const entry = LISTS[resource];
  const { table, scope } = entry;
  return `
  WITH given AS (
    SELECT r.*, ${given('organization_id')} AS ${scope}, sum((NOT follows)::int) OVER (ORDER BY n) AS chain
    FROM json_to_recordset($3) AS r (n bigint, observed_at timestamptz, replaces bigint, follows boolean, looks boolean,
      names json, document text, ${typedColumns(entry)})
  ),
  kept AS (
    SELECT * FROM (
      SELECT *, bool_and(${isKept(entry)}) OVER (PARTITION BY chain ORDER BY n) AS is_kept,
        row_number() OVER (PARTITION BY chain ORDER BY n) - 1 AS place
      FROM given
    ) AS g WHERE is_kept
  ),
  before AS (
    SELECT chain, CASE
      WHEN NOT looks THEN NULL
      WHEN replaces IS NULL THEN (SELECT max(p.valid_to) FROM mirror.${table}_history AS p WHERE ${sameKey(entry, 'p', 'a')})
      ELSE (SELECT p.valid_from FROM mirror.${table} AS p WHERE p.version = a.replaces)
    END AS at
    FROM kept AS a WHERE place = 0
  ),
  dated AS (
    SELECT a.*, ${known('first', 'bigint')} + n AS version, ${SYNC} AS sync_id, place * ${NEXT}
      + greatest(max(observed_at - place * ${NEXT}) OVER (PARTITION BY chain ORDER BY n), b.at + ${NEXT}) AS valid_from
    FROM kept AS a JOIN before AS b USING (chain)
  ),
  chained AS (
    SELECT *, lead(valid_from) OVER own AS next_at, lead(version) OVER own AS next_version
    FROM dated WINDOW own AS (PARTITION BY chain ORDER BY n)
  ),
  moved AS (
    DELETE FROM mirror.${table} AS t USING chained AS c WHERE c.place = 0 AND t.version = c.replaces
    RETURNING t.*, c.valid_from AS next_at, c.version AS next_version
  ),
  ended AS (
    SELECT ${names(entry)}, next_at, next_version FROM moved
    UNION ALL SELECT ${names(entry)}, next_at, next_version FROM chained WHERE next_at IS NOT NULL
  ),
  archived AS (
    ${archived(entry, { at: 'v.next_at', number: 'v.next_version' }, 'FROM ended AS v')}
  ),
  gone AS (SELECT count(*) AS rows FROM moved),
  entered AS (
    INSERT INTO mirror.${table} (${names(entry)})
    SELECT ${names(entry)} FROM chained CROSS JOIN gone WHERE next_at IS NULL
  )
  SELECT jsonb_build_object(
    'versions', (SELECT jsonb_agg(coalesce(c.version, 0) ORDER BY g.n) FROM given AS g LEFT JOIN chained AS c USING (n)),
    'added', count(*) FILTER (WHERE place = 0) - (SELECT rows FROM gone),
    'changed', count(*) FILTER (WHERE place > 0) + (SELECT rows FROM gone),
    'latest', max(valid_from))
  FROM chained`;
}

/** No one who has asked to be forgotten. Looked at under the lock that forgetting takes too. */
function isKept({ columns }: Entry): string {
  if (!columns.some(({ name }) => name === 'email')) return 'true';
  return `NOT EXISTS (SELECT 1 FROM mirror.forgotten_people
        WHERE email_sha256 IN (SELECT json_array_elements_text(names)))`;
}

function closeStatement(resource: ListResource): string {
  const entry = LISTS[resource];
  return `
  WITH closed AS (
    DELETE FROM mirror.${entry.table} AS t
    USING jsonb_to_recordset($1 -> 'closes') AS c (n bigint, version bigint, observed_at timestamptz)
    WHERE t.version = c.version
    RETURNING t.*, greatest(c.observed_at, t.valid_from + ${NEXT}) AS at, ${known('first', 'bigint')} + c.n AS number
  ),
  archived AS (
    ${archived(entry, { at: 'v.at', number: 'v.number', isRemoved: '1' }, 'FROM closed AS v')}
  )${resource === 'retirements' ? RETIREMENT_VANISHES : ''}
  SELECT jsonb_build_object('removed', count(*), 'closed', max(at)) FROM closed`;
}

function mendStatement(resource: ListResource): string {
  const entry = LISTS[resource];
  const own = entry.columns.map(({ name }) => `${name} = m.${name}`);
  return `
  UPDATE mirror.${entry.table} AS t SET ${own.join(', ')}
  FROM jsonb_to_recordset($1 -> 'mends') AS m (version bigint, ${typedColumns(entry)})
  WHERE t.version = m.version
  RETURNING '{}'::jsonb`;
}

/** What is kept of rows by counting each that comes and goes, counted anew. */
function recountStatement(resource: ListResource): string {
  const { table, scope } = LISTS[resource];
  return `
  UPDATE mirror.resource_states
  SET rows = (SELECT count(*) FROM mirror.${table} WHERE ${scope} = ${given('organization_id')})
  WHERE organization_id = ${given('organization_id')} AND resource = ${given('resource')}
  RETURNING '{}'::jsonb`;
}

const NOTE_PROJECTS = `
  INSERT INTO mirror.project_references
  SELECT ${given('organization_id')}, id FROM jsonb_array_elements_text($1 -> 'projects') AS named (id) ORDER BY id
  ON CONFLICT DO NOTHING
  RETURNING '{}'::jsonb`;

const DROP_PAGES = `
  DELETE FROM mirror.read_pages
  WHERE organization_id = ${given('organization_id')} AND resource = ${given('resource')}
    AND page >= ${given('drop_from', 'bigint')}
  RETURNING '{}'::jsonb`;

const DOUBT = `
  UPDATE mirror.resource_states SET doubted_at = ${given('doubted_at', 'timestamptz')},
    doubted = decode(${given('doubted')}, 'base64')
  WHERE organization_id = ${given('organization_id')} AND resource = ${given('resource')}
  RETURNING '{}'::jsonb`;

/** What one commit writes to a list. */
export function createListWork(resource: ListResource): (changes: Changes, sync: OpenSync) => Work {
  const entry = LISTS[resource];
  const enter = enterStatement(resource);
  const write = writeStatement(resource);
  const close = closeStatement(resource);
  const mend = mendStatement(resource);
  const recount = [recountStatement(resource)];
  /** A retirement's certificate goes with it, and has a number of its own. */
  const numbersOfClosing = resource === 'retirements' ? 2 : 1;
  const email = entry.columns.findIndex(({ name }) => name === 'email');

  function looks({ observedAt, isRepeated }: Insert, knownAt: string | null): boolean {
    return isRepeated || (knownAt !== null && observedAt <= knownAt);
  }

  /** Nothing of it was there, and it names nobody who may have asked to be forgotten. */
  function isFirst(insert: Insert, knownAt: string | null): boolean {
    return email < 0 && insert.replaces === null && !insert.follows && !looks(insert, knownAt);
  }

  function enteredRow({ key, cells, document, observedAt }: Insert, n: number) {
    return { n, observed_at: observedAt, document, ...cellsByName(entry, key, cells) };
  }

  function writtenRow(insert: Insert, n: number, knownAt: string | null) {
    const { cells, replaces, follows } = insert;
    const address = cells[email];
    return {
      ...enteredRow(insert, n),
      replaces,
      follows,
      looks: looks(insert, knownAt),
      names: typeof address === 'string' ? hashesOf(address) : [],
    };
  }

  return (changes, { request, knownAt }) => {
    const { inserts, closes, mends, pages, dropPagesFrom, projects, doubt } = changes;
    const doubtedAt = doubt ? formatInstant(request.startedAt) : null;
    const areFirst = inserts.every(insert => isFirst(insert, knownAt));
    return {
      statements: [
        ...(inserts.length + closes.length > 0 ? [NUMBER] : []),
        ...(inserts.length > 0 ? [areFirst ? enter : write] : []),
        ...(closes.length > 0 ? [close] : []),
        ...(mends.length > 0 ? [mend] : []),
        ...(projects.length > 0 ? [NOTE_PROJECTS] : []),
        ...(pages.length > 0 ? [PUT_PAGES] : []),
        ...(dropPagesFrom === null ? [] : [DROP_PAGES]),
        ...(doubt === undefined ? [] : [DOUBT]),
      ],
      given: {
        wanted: inserts.length + closes.length * numbersOfClosing,
        closes: closes.map(({ version, observedAt }, index) => ({
          n: inserts.length + index,
          version,
          observed_at: observedAt,
        })),
        closing: closes.length,
        mends: mends.map(({ version, key, cells }) => ({ version, ...cellsByName(entry, key, cells) })),
        projects,
        pages,
        drop_from: dropPagesFrom,
        doubted_at: doubtedAt,
        doubted: doubt ? Buffer.from(doubt).toString('base64') : null,
      },
      atEnd: request.full ? recount : [],
      rows: inserts.map((insert, n) => (areFirst ? enteredRow(insert, n) : writtenRow(insert, n, knownAt))),
    };
  };
}
