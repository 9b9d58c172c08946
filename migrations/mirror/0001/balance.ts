import { type Dialect, type Mirrored, SURE, view, wasIn, whole } from '../../schema.js';
import { RESOURCES } from './mirrored.js';

const LARGEST = '9000000000000000000';
const MICRO = 'millionths of a tonne';

/** A number of millionths; null where it is larger than a column holds. */
const micro = (number: string): string => `CASE WHEN abs(${number}) < ${LARGEST} THEN ${whole(number)} END`;

const oneWhere = (condition: string): string => whole(`CASE WHEN ${condition} THEN 1 ELSE 0 END`);

/** Nothing is none; no sum of them overflows. */
const wide = (number: string): string => `CAST(coalesce(${number}, 0) AS numeric)`;

/** How a column of a row is written. */
type Of = (column: string) => string;

const of =
  (alias: string): Of =>
  column =>
    `${alias}.${column}`;

/** Of a version of a table that stands in `past`. */
function ofPast(dialect: Dialect, table: string, alias = 'p'): Of {
  const entry: Mirrored | undefined = RESOURCES.find(each => each.table === table);
  if (entry === undefined) throw new Error(`expected a table of the mirror, got ${table}`);
  return column => wasIn(dialect, entry, column, alias);
}

/** Whether the registry says of a reservation neither that it was finished nor that it is over. */
const isOpen = (row: Of): string =>
  `coalesce(${row('is_complete')}, 0) = 0 AND lower(coalesce(${row('state')}, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')`;

/** Whether a reservation counts at an instant: a registry that sends no state lists it as before when its time is over. */
const standsAt = (row: Of, instant: string): string =>
  `${isOpen(row)} AND (${row('reserved_to_at')} IS NULL OR ${row('reserved_to_at')} > ${instant})`;

/** Where credits stand: the place, its resource, table, which row of a credit it is, and what of its amount counts. */
const PLACES = [
  placeOf('warehouse', 'warehouse', 'warehouse_credits', 'inventory_id'),
  placeOf('inventory', 'inventory', 'inventory_credits', 'inventory_id'),
  placeOf('reserved', 'reservations', 'reservations', 'id'),
];

function placeOf(name: string, resource: string, table: string, part: string) {
  return { place: name, resource, table, part, isReserved: name === 'reserved' };
}
type Place = (typeof PLACES)[number];

/** How much of a row counts at an instant. */
const amountAt = (
  { isReserved }: Place,
  row: Of,
  instant: string,
  amount: string = row('amount_micro'),
): string => (isReserved ? `CASE WHEN ${standsAt(row, instant)} THEN ${amount} ELSE 0 END` : amount);

const vintageOf = ({ lastYear }: Dialect, { isReserved }: Place, row: Of): string =>
  isReserved ? lastYear(row('serialization')) : row('vintage');

const union = (parts: readonly string[]): string => parts.join('\n  UNION ALL\n  ');

/** What may be issued, in all its versions, and until when a reservation counts. */
const stock = (dialect: Dialect, columns: (place: Place) => string, where = ''): string =>
  union(
    PLACES.map(place => {
      const ends = place.isReserved ? 's.reserved_to_at' : dialect.as('instant', 'NULL');
      const rule = place.isReserved ? ` AND ${isOpen(of('s'))}` : '';
      return `SELECT s.organization_id, s.credit_id, ${columns(place)}, s.amount_micro, s.valid_from, s.valid_to, ${ends} AS reserved_to FROM ${dialect.mirror}${place.table}_history AS s WHERE coalesce(s.type, '') <> 'exAnte'${where}${rule}`;
    }),
  );

/** Organizations of whose three lists it is known what stood in them, and since when. */
const judged = ({ mirror }: Dialect): string => `judged AS (
  SELECT organization_id, max(first_complete_at) AS since, min(as_of) AS settled_at FROM ${mirror}resource_states
  WHERE resource IN ('warehouse', 'inventory', 'reservations') GROUP BY organization_id HAVING count(first_complete_at) = 3
)`;

const stoodSince = (row: string, since: string): string =>
  `${row}.valid_from <= ${since} AND (${row}.valid_to IS NULL OR ${row}.valid_to > ${since}) AND (${row}.reserved_to IS NULL OR ${row}.reserved_to > ${since})`;

const standsNow = ({ now }: Dialect, row: string): string =>
  `${row}.valid_to IS NULL AND (${row}.reserved_to IS NULL OR ${row}.reserved_to > ${now})`;

const MOVES = view(
  'mirror.credit_moves',
  'What each credit was seen to rise or fall by between two reads, in the warehouse, in the inventory and reserved, since the first complete read of that list. A reservation also falls when its time is over, without a read. What the first complete read showed is the opening balance, and rose nowhere. The registry does not say what went in and out of a place: what came and went within one read is not seen.',
  {
    number: [
      'int',
      'number of the counter that the change took as it was committed; where a reservation ended by its time, that of the version that had shown it',
      SURE,
    ],
    observed_at: [
      'instant',
      'when the answer that showed it came; the change itself may be older. Where a reservation ended by its time, that time',
      SURE,
    ],
    organization_id: ['text', 'the organization whose list it stood in', SURE],
    place: [
      'text',
      'warehouse, inventory or reserved; a reservation that is over, or whose time is, counts nothing',
      SURE,
    ],
    credit_id: ['text', "the registry's id of the credit", SURE],
    part: ['text', 'which row of it: its inventory, or the id of the reservation', SURE],
    project_id: ['text', 'the project that issued the credit'],
    vintage: ['text', 'year of the reduction; of a reservation the year that ends its serialization'],
    serialization: ['text', 'what names the credit in public'],
    before_micro: ['large', `${MICRO} that stood there; null where the row is new or had no usable amount`],
    after_micro: ['large', `${MICRO} there since; null where the row is gone or has no usable amount`],
    moved_micro: ['large', 'after less before, null counted as nothing; null where that is too large'],
    type: ['text', 'exPost (issued) or exAnte (expected)'],
  },
  dialect => {
    const { mirror, as, word, now } = dialect;
    const since = (place: Place, alias: string, instant: string) =>
      `JOIN ${mirror}resource_states AS s ON s.organization_id = ${alias}.organization_id AND s.resource = '${place.resource}' AND ${alias}.${instant} > s.first_complete_at`;
    const row = (place: Place, column: Of) =>
      `${word(place.place)}, ${column('credit_id')}, ${column(place.part)}, ${column('project_id')}, ${vintageOf(dialect, place, column)}, ${column('serialization')}`;
    const ended = PLACES.filter(({ isReserved }) => isReserved).map(
      place => `SELECT h.version, h.reserved_to_at, h.organization_id, ${row(place, of('h'))},
  h.amount_micro, ${as('large', '0')}, ${micro(`(0 - ${wide('h.amount_micro')})`)}, h.type
FROM ${mirror}${place.table}_history AS h
${since(place, 'h', 'reserved_to_at')}
WHERE ${isOpen(of('h'))} AND h.reserved_to_at > h.valid_from AND h.reserved_to_at <= coalesce(h.valid_to, ${now})`,
    );
    const observed = PLACES.flatMap(place => {
      const past = ofPast(dialect, place.table);
      const after = amountAt(place, of('n'), 'n.valid_from');
      const before = amountAt(place, past, 'p.valid_to');
      const moved = `(${wide(after)} - ${wide(before)})`;
      return [
        `SELECT n.version, n.valid_from, n.organization_id, ${row(place, of('n'))},
  CASE WHEN p.version IS NOT NULL THEN ${before} END, ${after}, ${micro(moved)}, n.type
FROM ${mirror}${place.table}_history AS n LEFT JOIN ${mirror}past AS p ON p.closed_version = n.version
${since(place, 'n', 'valid_from')}`,
        `SELECT p.closed_version, p.valid_to, p.organization_id, ${row(place, past)},
  ${before}, ${as('int', 'NULL')}, ${micro(`(0 - ${wide(before)})`)}, ${past('type')}
FROM ${mirror}past AS p
${since(place, 'p', 'valid_to')}
WHERE p.resource = '${place.resource}' AND p.is_removed = 1`,
      ];
    });
    return [...observed, ...ended].join('\nUNION ALL\n');
  },
);

const USES = view(
  'mirror.credit_uses',
  'What reservations and inventory requests of an organization have taken out of its lists for good: reservations that were finished, and requests to retire that were carried out. They explain retirements; what nobody reserved or requested here does not stand here.',
  {
    organization_id: ['text', 'the organization whose list it stands in', SURE],
    resource: ['text', 'reservations or inventory_requests', SURE],
    id: ['text', "the registry's id of it", SURE],
    serialization: ['text', 'what names the credit in public'],
    project_id: ['text', 'the project that issued the credit'],
    vintage: ['text', 'year of the reduction; of a reservation the year that ends its serialization'],
    amount_micro: ['large', `${MICRO}; null where the amount is finer or larger than that holds`],
    begun_at: ['instant', 'when the registry says it was created'],
    ended_at: ['instant', 'when the registry says it changed last; else when the reservation was to end'],
  },
  ({
    mirror,
    word,
    lastYear,
  }) => `SELECT organization_id, ${word('reservations')}, id, serialization, project_id, ${lastYear('serialization')}, amount_micro, created_at, coalesce(updated_at, reserved_to_at)
FROM ${mirror}reservations WHERE is_complete = 1 OR lower(state) = 'finished'
UNION ALL
SELECT organization_id, ${word('inventory_requests')}, id, serialization, project_id, vintage, amount_micro, created_at, updated_at
FROM ${mirror}inventory_requests
WHERE tx_id IS NOT NULL AND lower(action) IN ('retire', 'transfer_retire') AND coalesce(from_organization_id, organization_id) = organization_id`,
);

/** The lists with an amount: their resource, table and what names a row. */
const LISTS = [
  ['warehouse', 'warehouse_credits', 'credit_id'],
  ['inventory', 'inventory_credits', 'credit_id'],
  ['reservations', 'reservations', 'id'],
  ['inventory_requests', 'inventory_requests', 'id'],
  ['retirements', 'retirements', 'id'],
] as const;

const FINDINGS_OF_CREDITS = view(
  'mirror.credit_findings',
  'What cannot be right in what the registry says of credits, a row each. An amount below zero; a serialization of issued credits that stands for two of them; what reservations and inventory requests have retired since the first reads and is listed as before; a reservation that a complete read an hour after its end still showed with the state of one that stands. Every row of the lists is looked at.',
  {
    finding: ['text', 'negative_amount, serialization_twice, listed_and_retired, reservation_outlived', SURE],
    organization_id: ['text', 'whose list it stands in', SURE],
    resource: ['text', 'which list, by its word in syncs', SURE],
    id: ['text', 'id of the row: of a credit its credit_id', SURE],
    serialization: ['text', 'what names the credit in public'],
    amount_exact: ['text', "the registry's own digits; null where it sent no usable number"],
    found: ['text', 'what is wrong, in words', SURE],
  },
  dialect => {
    const { mirror, as, word, sum, least, asText, later } = dialect;
    const amounts = LISTS.map(
      ([resource, table, id]) =>
        `SELECT organization_id, ${word(resource)} AS resource, ${id} AS id, serialization, amount, amount_exact, fault FROM ${mirror}${table}`,
    );
    const issued = LISTS.slice(0, 2).map(
      ([resource, table]) =>
        `SELECT organization_id, ${word(resource)} AS resource, credit_id, lower(serialization) AS serial, serialization, amount_exact FROM ${mirror}${table} WHERE type = 'exPost' AND serialization IS NOT NULL`,
    );
    const isRetired = ' AND lower(s.serialization) IN (SELECT serial FROM retired)';
    const never = as('instant', 'NULL');
    const summed = (rule: string) => sum(`CASE WHEN kind = 'stood' AND ${rule} THEN amount_micro ELSE 0 END`);
    const within = (kind: string) =>
      sum(
        `CASE WHEN kind = '${kind}' AND valid_from > begun AND valid_to <= settled THEN amount_micro ELSE 0 END`,
      );
    const used = least(within('taken'), within('used'));
    return `WITH amounts AS (
  ${union(amounts)}
),
issued AS (
  ${union(issued)}
),
twice AS (
  SELECT serial, min(credit_id) AS one, max(credit_id) AS other FROM issued GROUP BY serial HAVING min(credit_id) <> max(credit_id)
),
${judged(dialect)},
retired AS (
  SELECT r.organization_id, r.id, r.serialization, lower(r.serialization) AS serial, r.amount_micro, r.amount_exact, r.created_at
  FROM ${mirror}retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  WHERE r.created_at > j.since AND r.serialization IS NOT NULL
),
-- Read once: a planner that expects one judged organization would read all older versions again for each.
stock AS MATERIALIZED (
  ${stock(dialect, () => 'lower(s.serialization) AS serial', isRetired)}
),
-- All that befell a serialization is sorted once: a planner that takes a join for one row goes through all of the others for each.
events AS (
  SELECT ${word('stood')} AS kind, s.serial, j.since, j.settled_at, s.amount_micro, s.valid_from, s.valid_to, s.reserved_to
  FROM stock AS s JOIN judged AS j ON j.organization_id = s.organization_id
  UNION ALL
  SELECT ${word('taken')}, serial, ${never}, ${never}, amount_micro, created_at, created_at, ${never} FROM retired
  UNION ALL
  SELECT ${word('used')}, lower(serialization), ${never}, ${never}, amount_micro, begun_at, ended_at, ${never}
  FROM ${mirror}credit_uses WHERE lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT ${word('rose')}, lower(serialization), ${never}, ${never}, moved_micro, observed_at, observed_at, ${never}
  FROM ${mirror}credit_moves WHERE lower(serialization) IN (SELECT serial FROM retired) AND coalesce(type, '') <> 'exAnte' AND place <> 'reserved' AND moved_micro > 0
),
placed AS (
  SELECT e.*, max(since) OVER (PARTITION BY serial) AS begun, min(settled_at) OVER (PARTITION BY serial) AS settled FROM events AS e
),
listed AS (
  SELECT serial, begun AS since, settled AS settled_at FROM placed GROUP BY serial, begun, settled
  HAVING min(CASE WHEN kind = 'stood' THEN valid_from END) <= begun AND ${used} > 0
    AND ${summed(stoodSince('placed', 'begun'))} - ${summed(standsNow(dialect, 'placed'))} + ${sum(`CASE WHEN kind = 'rose' AND valid_from > begun THEN amount_micro ELSE 0 END`)} < ${used}
    AND count(CASE WHEN kind = 'stood' AND valid_from >= settled AND valid_from > begun THEN 1 END) = 0
)
SELECT ${word('negative_amount')}, organization_id, resource, id, serialization, amount_exact, ${word('its amount is below zero')}
FROM amounts WHERE amount < 0 OR fault = 'negative'
UNION ALL
SELECT ${word('serialization_twice')}, i.organization_id, i.resource, i.credit_id, i.serialization, i.amount_exact,
  'its serialization stands for credit ' || CASE WHEN i.credit_id = t.one THEN t.other ELSE t.one END || ' too'
FROM issued AS i JOIN twice AS t ON t.serial = i.serial
UNION ALL
SELECT ${word('listed_and_retired')}, r.organization_id, ${word('retirements')}, r.id, r.serialization, r.amount_exact,
  ${word('less of its serialization has gone from the lists than reservations and requests have retired of it')}
FROM retired AS r JOIN listed AS l ON l.serial = r.serial AND r.created_at > l.since AND r.created_at <= l.settled_at
WHERE EXISTS (SELECT 1 FROM ${mirror}credit_uses AS u WHERE lower(u.serialization) = r.serial AND u.amount_micro = r.amount_micro AND u.begun_at > l.since AND u.begun_at <= r.created_at)
UNION ALL
SELECT ${word('reservation_outlived')}, r.organization_id, ${word('reservations')}, r.id, r.serialization, r.amount_exact,
  'it ended at ' || ${asText('r.reserved_to_at')} || ' and is listed as ' || r.state
FROM ${mirror}reservations AS r JOIN ${mirror}resource_states AS s ON s.organization_id = r.organization_id AND s.resource = 'reservations'
WHERE coalesce(r.is_complete, 0) = 0 AND lower(r.state) NOT IN ('finished', 'cancelled', 'expired')
  AND s.as_of >= ${later('r.reserved_to_at', '3600000')}`;
  },
);

const OF_RETIREMENTS = view(
  'mirror.balance_retirements',
  "Retirements added up in three ways: by month and by beneficiary, as their columns say it and as the registry's own digits say it, and by what became of their certificates, as the rows and as the counters say it. Each of both sides must be the same.",
  {
    organization_id: ['text', 'who retired', SURE],
    reckoning: ['text', 'month, beneficiary or certificate', SURE],
    value: ['text', "the month, the beneficiary, or the state of certificates; '' where there is none", SURE],
    rows: ['int', 'how many retirements are listed so', SURE],
    amount_micro: ['large', `${MICRO} that they add up to; null where that is too large`],
    counted_rows: ['int', 'how many there are by the other side', SURE],
    counted_micro: ['large', `${MICRO} by the registry's own digits; of certificates no amount is counted`],
    balanced: ['int', '1 where both sides are the same, else 0', SURE],
    difference_micro: ['large', `${MICRO} that the rows are more than the other side`],
  },
  dialect => {
    const { mirror, word, bytewise, month, microOf, sum } = dialect;
    const digits = microOf('amount_exact', 'amount_micro');
    return `WITH listed AS (
  SELECT organization_id, ${word('month')} AS reckoning, coalesce(${month('created_at')}, '') AS value, amount_micro, ${digits} AS digits_micro FROM ${mirror}retirements
  UNION ALL
  SELECT organization_id, ${word('beneficiary')}, coalesce(beneficiary, ''), amount_micro, ${digits} FROM ${mirror}retirements
),
certified AS (
  SELECT r.organization_id, ${bytewise(`CASE
      WHEN c.state = 'stored' THEN 'stored'
      WHEN c.state IS NULL AND r.version <= (SELECT retirement_version FROM ${mirror}certificate_mark) THEN 'missing'
      WHEN coalesce(r.beneficiary, '') = '' THEN 'unclaimed'
      ELSE 'pending'
    END`)} AS value, r.amount_micro, c.state
  FROM ${mirror}retirements AS r LEFT JOIN ${mirror}certificates AS c ON c.organization_id = r.organization_id AND c.retirement_id = r.id
),
unclaimed AS (
  SELECT organization_id, count(*) AS rows FROM certified WHERE value = 'unclaimed' AND state IS NOT NULL GROUP BY organization_id
),
sides AS (
  SELECT organization_id, reckoning, value, count(*) AS rows, ${sum('amount_micro')} AS micro, count(*) AS counted, ${sum('digits_micro')} AS counted_micro
  FROM listed GROUP BY organization_id, reckoning, value
  UNION ALL
  SELECT organization_id, ${word('certificate')}, value, count(*), ${sum('amount_micro')},
    count(*) FILTER (WHERE value <> 'stored' AND state IS NULL AND value <> 'missing'), ${sum('amount_micro')}
  FROM certified GROUP BY organization_id, value
  UNION ALL
  SELECT organization_id, ${word('certificate')}, ${word('stored')}, 0, 0, certificates, 0
  FROM ${mirror}certificate_sums WHERE state = 'stored'
  UNION ALL
  SELECT organization_id, ${word('certificate')}, ${word('unclaimed')}, 0, 0, rows, 0
  FROM unclaimed
  UNION ALL
  SELECT s.organization_id, ${word('certificate')}, ${word('pending')}, 0, 0,
    s.certificates - coalesce(u.rows, 0), 0
  FROM (SELECT organization_id, sum(certificates) AS certificates FROM ${mirror}certificate_sums WHERE state <> 'stored' GROUP BY organization_id) AS s
  LEFT JOIN unclaimed AS u ON u.organization_id = s.organization_id
),
added AS (
  SELECT organization_id, reckoning, value, ${whole('sum(rows)')} AS rows, sum(micro) AS micro,
    ${whole('sum(counted)')} AS counted, sum(counted_micro) AS counted_micro
  FROM sides GROUP BY organization_id, reckoning, value
)
SELECT organization_id, reckoning, value, rows, ${micro('micro')}, counted, ${micro('counted_micro')}, ${oneWhere('rows = counted AND micro = counted_micro')}, ${micro('(micro - counted_micro)')}
FROM added WHERE rows <> 0 OR counted <> 0`;
  },
);

const OF_CREDITS = view(
  'mirror.balance_credits',
  "Per credit and place: what stood there at the end of the list's first complete read, and what it was seen to rise and to fall by since, adds up to what is listed now, by the registry's own digits. Lists that were never read completely are left out.",
  {
    organization_id: ['text', 'the organization whose list it stands in', SURE],
    place: ['text', 'warehouse, inventory or reserved', SURE],
    credit_id: ['text', "the registry's id of the credit", SURE],
    part: ['text', 'which row of it: its inventory, or the id of the reservation', SURE],
    moves: ['int', 'how often it was seen to move', SURE],
    risen_micro: ['large', `${MICRO} that it was seen to rise by; null where that is too large`],
    fallen_micro: ['large', `${MICRO} that it was seen to fall by; null where that is too large`],
    listed_micro: [
      'large',
      `${MICRO} that are listed now, of a reservation until its time is over; null where that is too large`,
    ],
    balanced: ['int', '1 where they add up, else 0', SURE],
    difference_micro: ['large', `${MICRO} that are listed beyond what they add up to`],
    type: ['text', 'exPost (issued) or exAnte (expected)'],
    opening_micro: ['large', `${MICRO} at the end of its list's first complete read; null where too large`],
    opening_at: ['instant', 'when that was', SURE],
  },
  dialect => {
    const { mirror, word, greatest, microOf, sum, now } = dialect;
    const digits = microOf('l.amount_exact', 'l.amount_micro');
    const lists = PLACES.flatMap(place => {
      const { place: name, resource, table, part } = place;
      // A clock that was set back is behind the read.
      const listed = amountAt(place, of('l'), greatest(now, 'l.valid_from'), digits);
      const opening = amountAt(place, of('h'), 's.first_complete_at');
      const known = (alias: string) =>
        `s.organization_id = ${alias}.organization_id AND s.resource = '${resource}'`;
      return [
        `SELECT l.organization_id, ${word(name)}, l.credit_id, l.${part}, 0, 0, ${listed}, 0, l.type FROM ${mirror}${table} AS l
  WHERE EXISTS (SELECT 1 FROM ${mirror}resource_states AS s WHERE ${known('l')} AND s.first_complete_at IS NOT NULL)`,
        `SELECT h.organization_id, ${word(name)}, h.credit_id, h.${part}, 0, 0, 0, coalesce(${opening}, 0), h.type FROM ${mirror}${table}_history AS h
  JOIN ${mirror}resource_states AS s ON ${known('h')} AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)`,
      ];
    });
    return `WITH sides AS (
  SELECT organization_id, place, credit_id, part, ${greatest('coalesce(moved_micro, 0)', '0')} AS risen, ${greatest('0 - coalesce(moved_micro, 0)', '0')} AS fallen, 0 AS listed, 0 AS opening, type
  FROM ${mirror}credit_moves
  UNION ALL
  ${union(lists)}
),
added AS (
  SELECT organization_id, place, credit_id, part, count(*) FILTER (WHERE risen <> 0 OR fallen <> 0) AS moves,
    ${sum('risen')} AS risen, ${sum('fallen')} AS fallen, ${sum('listed')} AS listed, ${sum('opening')} AS opening, max(type) AS type
  FROM sides GROUP BY organization_id, place, credit_id, part
)
SELECT a.organization_id, a.place, a.credit_id, a.part, a.moves, ${micro('risen')}, ${micro('fallen')}, ${micro('listed')}, ${oneWhere('opening + risen - fallen = listed')}, ${micro('(listed - opening - risen + fallen)')}, a.type, ${micro('opening')}, s.first_complete_at
FROM added AS a JOIN ${mirror}resource_states AS s ON s.organization_id = a.organization_id AND s.resource = CASE a.place WHEN 'reserved' THEN 'reservations' ELSE a.place END`;
  },
);

const OF_PROJECTS = view(
  'mirror.balance_projects',
  'Per project and vintage, without what is exAnte: warehouse, inventory and reserved together, of all organizations whose three lists were ever read completely, fell by at least what these organizations have retired of it since by their own reservations and inventory requests. What else they retired may be of credits that an organization gave that is not mirrored: it is named, and nothing has to fall for it. What was not listed anywhere when the period began counts by what it was seen to fall by.',
  {
    project_id: ['text', 'the project that issued the credits', SURE],
    project_name: ['text', 'its name, as it was sent with them'],
    vintage: ['text', 'year of the reduction', SURE],
    begun_at: ['instant', 'end of the last of the first complete reads: what was before is not known', SURE],
    settled_at: ['instant', 'start of the oldest last complete read of them: later retirements wait', SURE],
    opening_micro: ['large', `${MICRO} that stood there at the start`],
    closing_micro: ['large', `${MICRO} that stand there now`],
    fallen_micro: ['large', `${MICRO} that its rows were seen to fall by`],
    fall_micro: ['large', `${MICRO} that it fell by, moves from one place to another left out`],
    retirements: ['int', 'how many retirements', SURE],
    retired_micro: ['large', `${MICRO} that they add up to`],
    balanced: [
      'int',
      '1 where what it fell and rose by is as much as is explained, or more, 0 where it is not; null where a list has not been read since the last rise',
    ],
    difference_micro: ['large', `${MICRO} that are explained and were not seen to fall`],
    risen_micro: ['large', `${MICRO} that warehouses and inventories rose by, also from one another`],
    explained_micro: ['large', `${MICRO} of that which their reservations and inventory requests explain`],
    unexplained_micro: [
      'large',
      `${MICRO} of it that neither they nor a fall explain: it came from elsewhere`,
    ],
  },
  dialect => {
    const { mirror, as, greatest, least, sum } = dialect;
    const columns = (place: Place) =>
      `s.project_id, s.project_name, ${vintageOf(dialect, place, of('s'))} AS vintage`;
    const fallen = greatest('0 - coalesce(m.moved_micro, 0)', '0');
    const risen = greatest('coalesce(m.moved_micro, 0)', '0');
    const place = 'JOIN places AS p ON p.project_id = ';
    const unexplained = greatest(`a.retired - ${greatest('a.explained', 'a.fall')}`, '0');
    return `WITH stock AS (
  ${stock(dialect, columns)}
),
${judged(dialect)},
places AS (
  SELECT s.project_id, s.vintage, max(s.project_name) AS project_name, max(j.since) AS since, min(j.settled_at) AS settled_at
  FROM (SELECT DISTINCT organization_id, project_id, project_name, vintage FROM stock) AS s JOIN judged AS j ON j.organization_id = s.organization_id
  WHERE s.project_id IS NOT NULL AND s.vintage IS NOT NULL GROUP BY s.project_id, s.vintage
),
credits AS (
  SELECT credit_id, min(valid_from) AS seen_at FROM stock GROUP BY credit_id
),
-- Each credit meets its first sight alone, where the planner knows how many there are: among the joins below it takes them for few, and goes through all credits for each.
seen AS MATERIALIZED (
  SELECT s.*, c.seen_at FROM stock AS s JOIN credits AS c ON c.credit_id = s.credit_id
),
moved AS MATERIALIZED (
  SELECT m.*, c.seen_at FROM ${mirror}credit_moves AS m JOIN credits AS c ON c.credit_id = m.credit_id WHERE coalesce(m.type, '') <> 'exAnte'
),
amounts AS (
  SELECT p.project_id, p.vintage,
    CASE WHEN ${stoodSince('s', 'p.since')} THEN s.amount_micro ELSE 0 END AS opening,
    CASE WHEN ${standsNow(dialect, 's')} THEN s.amount_micro ELSE 0 END AS closing,
    CASE WHEN s.seen_at <= p.since AND ${standsNow(dialect, 's')} THEN s.amount_micro ELSE 0 END AS closing_known,
    0 AS fallen, 0 AS fallen_new, 0 AS retired, 0 AS retirements, 0 AS risen, 0 AS used, ${as('instant', 'NULL')} AS rose_at
  FROM seen AS s JOIN judged AS j ON j.organization_id = s.organization_id
  ${place}s.project_id AND p.vintage = s.vintage
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, ${fallen},
    CASE WHEN m.seen_at > p.since THEN ${fallen} ELSE 0 END, 0, 0,
    CASE WHEN m.seen_at <= p.since AND m.place <> 'reserved' THEN ${risen} ELSE 0 END, 0,
    CASE WHEN m.moved_micro > 0 THEN m.observed_at END
  FROM moved AS m JOIN judged AS j ON j.organization_id = m.organization_id
  ${place}m.project_id AND p.vintage = m.vintage AND m.observed_at > p.since
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, coalesce(r.amount_micro, 0), 1, 0, 0, ${as('instant', 'NULL')}
  FROM ${mirror}retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  ${place}r.project_id AND p.vintage = r.vintage AND r.created_at > p.since AND r.created_at <= p.settled_at
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, 0, 0, 0, coalesce(u.amount_micro, 0), ${as('instant', 'NULL')}
  FROM ${mirror}credit_uses AS u JOIN judged AS j ON j.organization_id = u.organization_id
  ${place}u.project_id AND p.vintage = u.vintage AND u.begun_at > p.since AND u.ended_at <= p.settled_at
),
added AS (
  SELECT project_id, vintage, ${['opening', 'closing', 'closing_known', 'fallen', 'fallen_new', 'retired', 'risen', 'used'].map(name => `${sum(name)} AS ${name}`).join(', ')}, ${whole('sum(retirements)')} AS retirements, max(rose_at) AS rose_at
  FROM amounts GROUP BY project_id, vintage
),
explained AS (
  SELECT project_id, vintage, opening, closing, fallen, opening - closing_known + fallen_new AS fall, risen, retired, retirements,
    ${greatest(least('retired', 'used'), '0')} AS explained, rose_at
  FROM added
)
SELECT a.project_id, p.project_name, a.vintage, ${as('instant', 'p.since')}, ${as('instant', 'p.settled_at')}, ${micro('a.opening')}, ${micro('a.closing')}, ${micro('a.fallen')},
  ${micro('a.fall')}, a.retirements, ${micro('a.retired')},
  ${whole('CASE WHEN a.fall + a.risen >= a.explained OR a.explained <= 0 THEN 1 WHEN a.rose_at >= p.settled_at THEN NULL ELSE 0 END')}, ${micro(greatest('a.explained - a.fall - a.risen', '0'))},
  ${micro('a.risen')}, ${micro('a.explained')}, ${micro(unexplained)}
FROM explained AS a JOIN places AS p ON p.project_id = a.project_id AND p.vintage = a.vintage`;
  },
);

const OF_SERIALS = view(
  'mirror.balance_serials',
  'A serialization of issued credits stands for one credit, in whatever list and case. It names a token and no range: its length says no amount.',
  {
    serialization: ['text', 'what names the credit in public, in lower case', SURE],
    credit_id: ['text', 'the credit that it stands for; the first of several', SURE],
    other_credit_id: ['text', 'the last of several; the same where there is one', SURE],
    rows: ['int', 'how many rows name it', SURE],
    balanced: ['int', '1 where it stands for one credit, else 0', SURE],
  },
  dialect => {
    const named = PLACES.map(
      ({ table }) =>
        `SELECT lower(serialization) AS serialization, credit_id FROM ${dialect.mirror}${table} WHERE type = 'exPost' AND serialization IS NOT NULL`,
    );
    return `WITH named AS (
  ${union(named)}
)
SELECT serialization, min(credit_id), max(credit_id), count(*), ${oneWhere('min(credit_id) = max(credit_id)')}
FROM named GROUP BY serialization`;
  },
);

/** The retirement's own facts. The project's name is not among them: renaming a project restates no retirement. */
const FACTS_OF_RETIREMENT = [
  'project_id',
  'serialization',
  'vintage',
  'amount_exact',
  'fault',
  'reason',
  'beneficiary',
  'comment',
  'is_claimed',
  'created_at',
];

const RESTATEMENTS = view(
  'mirror.restatements',
  'Facts of a retirement that the registry changed or took back after the year was over that it is dated in, and each certificate that is another file than before, whenever that was. A change within the year, and a new name of its project, are in the view changes alone.',
  {
    number: ['int', 'number of the counter that the change took: the same as in changes', SURE],
    observed_at: ['instant', 'when the answer that showed it came; the change itself may be older', SURE],
    organization_id: ['text', 'whose retirement it is', SURE],
    resource: ['text', 'retirements or certificates', SURE],
    id: ['text', 'the retirement', SURE],
    year: ['text', 'the year that it was dated in before, in UTC; null where no usable date was sent'],
    change: ['text', 'changed or removed', SURE],
    before: ['text', 'what stood there: the exact amount of a retirement, the SHA-256 of a certificate'],
    after: ['text', 'what stands there since; null where it is gone'],
    sync_id: ['int', 'the sync that found it; old syncs are removed in time'],
  },
  dialect => {
    const { mirror, bytewise, year } = dialect;
    const retirement = ofPast(dialect, 'retirements');
    const certificate = ofPast(dialect, 'certificates');
    const nextFile = `coalesce((SELECT n.sha256 FROM ${mirror}certificates AS n WHERE n.version = p.closed_version), (SELECT ${ofPast(dialect, 'certificates', 'n')('sha256')} FROM ${mirror}past AS n WHERE n.version = p.closed_version))`;
    const change = bytewise("CASE p.is_removed WHEN 0 THEN 'changed' ELSE 'removed' END");
    const dated = year(
      `coalesce((SELECT r.created_at FROM ${mirror}retirements AS r WHERE r.organization_id = p.organization_id AND r.id = p.key), (SELECT max(${ofPast(dialect, 'retirements', 'r')('created_at')}) FROM ${mirror}past AS r WHERE r.resource = 'retirements' AND r.organization_id = p.organization_id AND r.key = p.key))`,
    );
    const after = (column: string) =>
      `CASE WHEN n.version IS NULL THEN ${ofPast(dialect, 'retirements', 'q')(column)} ELSE n.${column} END`;
    const differs = FACTS_OF_RETIREMENT.map(
      column => `${retirement(column)} IS DISTINCT FROM ${after(column)}`,
    );
    return `SELECT p.closed_version, p.valid_to, p.organization_id, p.resource, p.key, ${year(retirement('created_at'))},
  ${change},
  ${retirement('amount_exact')}, ${after('amount_exact')}, p.closed_by
FROM ${mirror}past AS p LEFT JOIN ${mirror}retirements AS n ON n.version = p.closed_version
  LEFT JOIN ${mirror}past AS q ON q.version = p.closed_version
WHERE p.resource = 'retirements' AND ${year(retirement('created_at'))} < ${year('p.valid_to')}
  AND (${differs.join(' OR ')})
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, p.resource, p.key, ${dated},
  ${change},
  ${certificate('sha256')}, ${nextFile}, p.closed_by
FROM ${mirror}past AS p
WHERE p.resource = 'certificates' AND ${nextFile} IS DISTINCT FROM ${certificate('sha256')}
  AND (p.is_removed = 0 OR ${dated} < ${year('p.valid_to')})`;
  },
);

const COUNTED = ['balance_retirements', 'balance_credits', 'balance_projects', 'balance_serials'];
const KINDS = ['negative_amount', 'serialization_twice', 'listed_and_retired', 'reservation_outlived'];

const FINDINGS = view(
  'mirror.findings',
  'How many rows each balance, the restatements and the findings have at this moment, of a balance the rows that are not balanced. Every row of the lists is looked at.',
  {
    finding: ['text', 'name of the balance, restatements, or what is found in credit_findings', SURE],
    rows: ['int', 'how many', SURE],
  },
  ({ mirror, word, bytewise }) => `WITH found AS (
  SELECT finding, count(*) AS rows FROM ${mirror}credit_findings GROUP BY finding
),
kinds (finding) AS (
  VALUES ${KINDS.map(kind => `('${kind}')`).join(', ')}
)
${COUNTED.map(name => `SELECT ${word(name)}, (SELECT count(*) FROM ${mirror}${name} WHERE balanced = 0)`).join('\nUNION ALL\n')}
UNION ALL
SELECT ${word('restatements')}, (SELECT count(*) FROM ${mirror}restatements)
UNION ALL
SELECT ${bytewise('k.finding')}, coalesce(f.rows, 0)
FROM kinds AS k LEFT JOIN found AS f ON f.finding = k.finding`,
);

export const BALANCE = [
  MOVES,
  USES,
  FINDINGS_OF_CREDITS,
  OF_RETIREMENTS,
  OF_CREDITS,
  OF_PROJECTS,
  OF_SERIALS,
  RESTATEMENTS,
  FINDINGS,
] as const;
