import { type Dialect, type Mirrored, SURE, view, wasIn, whole } from '../../schema.js';
import { RESOURCES } from './mirrored.js';

const LARGEST = '9000000000000000000';
const MICRO = 'millionths of a tonne';

/** Returns SQL that casts a number to a 64-bit integer, or gives NULL if it is too large. */
const micro = (number: string): string => `CASE WHEN abs(${number}) < ${LARGEST} THEN ${whole(number)} END`;

const oneWhere = (condition: string): string => whole(`CASE WHEN ${condition} THEN 1 ELSE 0 END`);

/** Returns SQL that replaces NULL by 0 and casts to numeric, so that sums cannot overflow. */
const wide = (number: string): string => `CAST(coalesce(${number}, 0) AS numeric)`;

/** Returns the SQL of a column of a row. */
type Of = (column: string) => string;

const of =
  (alias: string): Of =>
  column =>
    `${alias}.${column}`;

/** Returns how to write the columns of a table's versions in `past`. */
function ofPast(dialect: Dialect, table: string, alias = 'p'): Of {
  const entry: Mirrored | undefined = RESOURCES.find(each => each.table === table);
  if (entry === undefined) throw new Error(`expected a table of the mirror, got ${table}`);
  return column => wasIn(dialect, entry, column, alias);
}

/** Returns a condition: the registry has reported neither completion nor the end of the reservation. */
const isOpen = (row: Of): string =>
  `coalesce(${row('is_complete')}, 0) = 0 AND lower(coalesce(${row('state')}, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')`;

/** Returns a condition: the reservation is open and has not expired at an instant. The registry may still list an expired one as open. */
const standsAt = (row: Of, instant: string): string =>
  `${isOpen(row)} AND (${row('reserved_to_at')} IS NULL OR ${row('reserved_to_at')} > ${instant})`;

/** The places of credits: for each its resource, its table, and the column that tells the rows of one credit apart. */
const PLACES = [
  placeOf('warehouse', 'warehouse', 'warehouse_credits', 'inventory_id'),
  placeOf('inventory', 'inventory', 'inventory_credits', 'inventory_id'),
  placeOf('reserved', 'reservations', 'reservations', 'id'),
];

function placeOf(name: string, resource: string, table: string, part: string) {
  return { place: name, resource, table, part, isReserved: name === 'reserved' };
}
type Place = (typeof PLACES)[number];

/** Returns SQL for the amount of a row at an instant. An ended or expired reservation counts as 0. */
const amountAt = (
  { isReserved }: Place,
  row: Of,
  instant: string,
  amount: string = row('amount_micro'),
): string => (isReserved ? `CASE WHEN ${standsAt(row, instant)} THEN ${amount} ELSE 0 END` : amount);

const vintageOf = ({ lastYear }: Dialect, { isReserved }: Place, row: Of): string =>
  isReserved ? lastYear(row('serialization')) : row('vintage');

const union = (parts: readonly string[]): string => parts.join('\n  UNION ALL\n  ');

/** Returns a query of all versions of credits that are not ex-ante in all places; `reserved_to` is when a reservation expires. */
const stock = (dialect: Dialect, columns: (place: Place) => string, where = ''): string =>
  union(
    PLACES.map(place => {
      const ends = place.isReserved ? 's.reserved_to_at' : dialect.as('instant', 'NULL');
      const rule = place.isReserved ? ` AND ${isOpen(of('s'))}` : '';
      return `SELECT s.organization_id, s.credit_id, ${columns(place)}, s.amount_micro, s.valid_from, s.valid_to, ${ends} AS reserved_to FROM ${dialect.mirror}${place.table}_history AS s WHERE coalesce(s.type, '') <> 'exAnte'${where}${rule}`;
    }),
  );

/** A common table expression of the organizations whose three lists were all read completely, and the period that these reads cover. */
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
  'Increases and decreases of the amount of each credit in the warehouse, in the inventory and in reservations, as observed between two reads. The first complete read of a list is the opening balance and not a move. A reservation that expires is a decrease at that time, even without a read. The registry does not report moves, so amounts that came and went between two reads are not observed.',
  {
    number: [
      'int',
      'number of the change, as in changes; if a reservation expired, the version of the reservation',
      SURE,
    ],
    observed_at: [
      'instant',
      'when the mirror observed the move; the registry may have made it earlier. If a reservation expired, the time of expiry',
      SURE,
    ],
    organization_id: ['text', 'id of the organization whose list contains the credit', SURE],
    place: [
      'text',
      'where the amount changed: warehouse, inventory or reserved. Reservations that have ended or expired count as 0',
      SURE,
    ],
    credit_id: ['text', 'id of the credit at the registry', SURE],
    part: [
      'text',
      'row of the credit within that place: the inventory_id, or the id of the reservation',
      SURE,
    ],
    project_id: ['text', 'id of the project that issued the credit'],
    vintage: [
      'text',
      'year of the emission reduction; for reservations, the year at the end of the serialization',
    ],
    serialization: ['text', 'public serial number of the credit'],
    before_micro: [
      'large',
      `amount before the move, in ${MICRO}; NULL if the row is new or had no usable amount`,
    ],
    after_micro: [
      'large',
      `amount after the move, in ${MICRO}; NULL if the row was removed or has no usable amount`,
    ],
    moved_micro: [
      'large',
      'after_micro minus before_micro, with NULL counted as 0; NULL if the difference is too large',
    ],
    type: ['text', 'exPost (issued credits) or exAnte (expected credits)'],
  },
  dialect => {
    const { mirror, as, word, now } = dialect;
    /** A cross join, so that SQLite reads the versions in the order in which they are stored, and not organization by organization. */
    const states = `CROSS JOIN ${mirror}resource_states AS s`;
    const since = (place: Place, alias: string, instant: string) =>
      `s.organization_id = ${alias}.organization_id AND s.resource = '${place.resource}' AND ${alias}.${instant} > s.first_complete_at`;
    const row = (place: Place, column: Of) =>
      `${word(place.place)}, ${column('credit_id')}, ${column(place.part)}, ${column('project_id')}, ${vintageOf(dialect, place, column)}, ${column('serialization')}`;
    const ended = PLACES.filter(({ isReserved }) => isReserved).map(
      place => `SELECT h.version, h.reserved_to_at, h.organization_id, ${row(place, of('h'))},
  h.amount_micro, ${as('large', '0')}, ${micro(`(0 - ${wide('h.amount_micro')})`)}, h.type
FROM ${mirror}${place.table}_history AS h ${states}
WHERE ${since(place, 'h', 'reserved_to_at')} AND ${isOpen(of('h'))} AND h.reserved_to_at > h.valid_from AND h.reserved_to_at <= coalesce(h.valid_to, ${now})`,
    );
    const observed = PLACES.flatMap(place => {
      const past = ofPast(dialect, place.table);
      const after = amountAt(place, of('n'), 'n.valid_from');
      const before = amountAt(place, past, 'p.valid_to');
      const moved = `(${wide(after)} - ${wide(before)})`;
      return [
        `SELECT n.version, n.valid_from, n.organization_id, ${row(place, of('n'))},
  CASE WHEN p.version IS NOT NULL THEN ${before} END, ${after}, ${micro(moved)}, n.type
FROM ${mirror}${place.table}_history AS n ${states} LEFT JOIN ${mirror}past AS p ON p.closed_version = n.version
WHERE ${since(place, 'n', 'valid_from')}`,
        `SELECT p.closed_version, p.valid_to, p.organization_id, ${row(place, past)},
  ${before}, ${as('int', 'NULL')}, ${micro(`(0 - ${wide(before)})`)}, ${past('type')}
FROM ${mirror}past AS p ${states}
WHERE ${since(place, 'p', 'valid_to')} AND p.resource = '${place.resource}' AND p.is_removed = 1`,
      ];
    });
    return [...observed, ...ended].join('\nUNION ALL\n');
  },
);

const USES = view(
  'mirror.credit_uses',
  'Finished reservations, and inventory requests to retire that were carried out: credits that left the lists of an organization for good. The balances use them to explain retirements. Retirements without a reservation or a request have no row here.',
  {
    organization_id: ['text', 'id of the organization whose list contains the row', SURE],
    resource: ['text', 'reservations or inventory_requests', SURE],
    id: ['text', 'id of the reservation or request at the registry', SURE],
    serialization: ['text', 'public serial number of the credit'],
    project_id: ['text', 'id of the project that issued the credit'],
    vintage: [
      'text',
      'year of the emission reduction; for reservations, the year at the end of the serialization',
    ],
    amount_micro: [
      'large',
      `amount in ${MICRO}; NULL if it has more than six decimals, is too large or is not usable`,
    ],
    begun_at: ['instant', 'when the reservation or request was created, according to the registry'],
    ended_at: [
      'instant',
      'when it was last changed, according to the registry; if unknown, when the reservation was to expire',
    ],
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

/** The resources with amounts: each with its table and the column with the id of a row. */
const LISTS = [
  ['warehouse', 'warehouse_credits', 'credit_id'],
  ['inventory', 'inventory_credits', 'credit_id'],
  ['reservations', 'reservations', 'id'],
  ['inventory_requests', 'inventory_requests', 'id'],
  ['retirements', 'retirements', 'id'],
] as const;

const FINDINGS_OF_CREDITS = view(
  'mirror.credit_findings',
  "Contradictions in the registry's data about credits, one row each. negative_amount: an amount below zero. serialization_twice: a serialization that two issued credits share. listed_and_retired: credits that a reservation or an inventory request retired since the first reads, but that are still listed. reservation_outlived: a reservation that a complete read still showed as open at least an hour after it had expired. The query reads every row of the lists.",
  {
    finding: [
      'text',
      'kind of contradiction: negative_amount, serialization_twice, listed_and_retired or reservation_outlived',
      SURE,
    ],
    organization_id: ['text', 'id of the organization whose list contains the row', SURE],
    resource: ['text', 'resource of the row, as in syncs.resource', SURE],
    id: ['text', 'id of the row; credit_id for credits', SURE],
    serialization: ['text', 'public serial number of the credit'],
    amount_exact: [
      'text',
      "amount in tonnes, in the registry's own digits; NULL if it sent no usable number",
    ],
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
    /** The first condition is known before any row is read. */
    const isRetired = (serialization: string) =>
      `EXISTS (SELECT 1 FROM retired) AND lower(${serialization}) IN (SELECT serial FROM retired)`;
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
-- Only serializations that a reservation or a request used can be listed_and_retired: all older versions of others need not be read.
retired AS MATERIALIZED (
  SELECT r.organization_id, r.id, r.serialization, lower(r.serialization) AS serial, r.amount_micro, r.amount_exact, r.created_at
  FROM ${mirror}retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  WHERE r.created_at > j.since AND r.serialization IS NOT NULL
    AND lower(r.serialization) IN (SELECT lower(u.serialization) FROM ${mirror}credit_uses AS u)
),
-- Read once: a planner that expects one judged organization would read all older versions again for each.
stock AS MATERIALIZED (
  ${stock(dialect, () => 'lower(s.serialization) AS serial', ` AND ${isRetired('s.serialization')}`)}
),
-- One sorted list of events per serialization instead of joins: a planner that expects one row would scan all others for each.
events AS (
  SELECT ${word('stood')} AS kind, s.serial, j.since, j.settled_at, s.amount_micro, s.valid_from, s.valid_to, s.reserved_to
  FROM stock AS s JOIN judged AS j ON j.organization_id = s.organization_id
  UNION ALL
  SELECT ${word('taken')}, serial, ${never}, ${never}, amount_micro, created_at, created_at, ${never} FROM retired
  UNION ALL
  SELECT ${word('used')}, lower(serialization), ${never}, ${never}, amount_micro, begun_at, ended_at, ${never}
  FROM ${mirror}credit_uses WHERE ${isRetired('serialization')}
  UNION ALL
  SELECT ${word('rose')}, lower(serialization), ${never}, ${never}, moved_micro, observed_at, observed_at, ${never}
  FROM ${mirror}credit_moves WHERE ${isRetired('serialization')} AND coalesce(type, '') <> 'exAnte' AND place <> 'reserved' AND moved_micro > 0
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
  "Sums of retirements that are calculated twice and must agree. By month and by beneficiary: from amount_micro and from the registry's own digits. By state of the certificate: from the rows and from the counters.",
  {
    organization_id: ['text', 'id of the organization that retired the credits', SURE],
    reckoning: ['text', 'what the sum is grouped by: month, beneficiary or certificate', SURE],
    value: ['text', "month, beneficiary, or state of the certificates; '' if there is none", SURE],
    rows: ['int', 'number of retirements, from the rows', SURE],
    amount_micro: ['large', `sum of amount_micro, in ${MICRO}; NULL if it is too large`],
    counted_rows: ['int', 'number of retirements in the second calculation', SURE],
    counted_micro: [
      'large',
      `sum of the registry's own digits, in ${MICRO}; for certificates, which have no amount counter, equal to amount_micro. NULL if it is too large`,
    ],
    balanced: ['int', '1 if both calculations agree, else 0', SURE],
    difference_micro: ['large', `amount_micro minus counted_micro, in ${MICRO}; NULL if it is too large`],
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
  "Balance of each credit in each place. Opening amount plus increases minus decreases must equal the amount that is listed now in the registry's own digits. The opening amount is that at the end of the first complete read. Lists that were never read completely are left out.",
  {
    organization_id: ['text', 'id of the organization whose list contains the row', SURE],
    place: ['text', 'warehouse, inventory or reserved', SURE],
    credit_id: ['text', 'id of the credit at the registry', SURE],
    part: [
      'text',
      'row of the credit within that place: the inventory_id, or the id of the reservation',
      SURE,
    ],
    moves: ['int', 'number of observed moves', SURE],
    risen_micro: ['large', `sum of the increases, in ${MICRO}; NULL if it is too large`],
    fallen_micro: ['large', `sum of the decreases, in ${MICRO}; NULL if it is too large`],
    listed_micro: [
      'large',
      `amount that is listed now, in ${MICRO}; 0 for reservations that have expired. NULL if it is too large`,
    ],
    balanced: ['int', '1 if the amounts add up, else 0', SURE],
    difference_micro: ['large', `listed amount minus expected amount, in ${MICRO}; NULL if it is too large`],
    type: ['text', 'exPost (issued credits) or exAnte (expected credits)'],
    opening_micro: [
      'large',
      `amount at the end of the first complete read of the list, in ${MICRO}; NULL if it is too large`,
    ],
    opening_at: ['instant', 'end of the first complete read of the list', SURE],
  },
  dialect => {
    const { mirror, word, greatest, microOf, sum, now } = dialect;
    const digits = microOf('l.amount_exact', 'l.amount_micro');
    const lists = PLACES.flatMap(place => {
      const { place: name, resource, table, part } = place;
      // If the clock was set back, the current time is before the read.
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
  'Balance of the issued credits of each project and vintage, over warehouse, inventory and reservations of all organizations whose three lists were read completely at least once. These lists must have fallen by at least the amount that the same organizations retired since through their own reservations and inventory requests. Other retirements may use credits of organizations that are not mirrored, so they only appear in unexplained_micro. Credits that no list contained at the start of the period count with their observed decreases.',
  {
    project_id: ['text', 'id of the project that issued the credits', SURE],
    project_name: ['text', 'name of the project, as sent with the credits'],
    vintage: ['text', 'year of the emission reduction', SURE],
    begun_at: [
      'instant',
      'start of the period: when the first complete reads of all these lists had ended',
      SURE,
    ],
    settled_at: [
      'instant',
      'end of the period: start of the oldest of the last complete reads of these lists. Later retirements do not count yet',
      SURE,
    ],
    opening_micro: ['large', `amount at the start of the period, in ${MICRO}; NULL if it is too large`],
    closing_micro: ['large', `amount that is listed now, in ${MICRO}; NULL if it is too large`],
    fallen_micro: [
      'large',
      `sum of the observed decreases of all rows, in ${MICRO}; NULL if it is too large`,
    ],
    fall_micro: [
      'large',
      `total decrease without moves from one place to another, in ${MICRO}; NULL if it is too large`,
    ],
    retirements: ['int', 'number of retirements in the period', SURE],
    retired_micro: ['large', `sum of these retirements, in ${MICRO}; NULL if it is too large`],
    balanced: [
      'int',
      '1 if fall_micro plus risen_micro is at least explained_micro, else 0; NULL if it is less but a list has not been read since the last increase',
    ],
    difference_micro: [
      'large',
      `part of explained_micro that no observed decrease or increase covers, in ${MICRO}; 0 if balanced. NULL if it is too large`,
    ],
    risen_micro: [
      'large',
      `sum of the observed increases of warehouses and inventories, including moves between them, in ${MICRO}; NULL if it is too large`,
    ],
    explained_micro: [
      'large',
      `part of retired_micro that reservations and inventory requests explain, in ${MICRO}; NULL if it is too large`,
    ],
    unexplained_micro: [
      'large',
      `part of retired_micro that neither these nor a decrease explain, so the credits came from elsewhere, in ${MICRO}; NULL if it is too large`,
    ],
  },
  dialect => {
    const { engine, mirror, as, greatest, least, sum } = dialect;
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
period AS (
  SELECT min(since) AS first_since, max(since) AS last_since FROM judged
),
-- All older versions are read once for what is said of whole credits; what follows reads few of them again.
held AS MATERIALIZED (
  SELECT organization_id, credit_id, project_id, vintage, max(project_name) AS project_name, min(valid_from) AS seen_at
  FROM stock GROUP BY organization_id, credit_id, project_id, vintage
),
places AS MATERIALIZED (
  SELECT h.project_id, h.vintage, max(h.project_name) AS project_name, max(j.since) AS since, min(j.settled_at) AS settled_at
  FROM held AS h JOIN judged AS j ON j.organization_id = h.organization_id
  WHERE h.project_id IS NOT NULL AND h.vintage IS NOT NULL GROUP BY h.project_id, h.vintage
),
credits AS MATERIALIZED (
  SELECT credit_id, min(seen_at) AS seen_at FROM held GROUP BY credit_id
),
-- The cross joins make SQLite read all versions or moves once, and look up the few credits and projects for each.
seen AS MATERIALIZED (
  SELECT s.*, c.seen_at FROM stock AS s CROSS JOIN credits AS c
  WHERE c.credit_id = s.credit_id
    AND (s.valid_to IS NULL OR s.valid_from <= (SELECT last_since FROM period) AND s.valid_to > (SELECT first_since FROM period))
),
-- PostgreSQL expects one judged organization: in one join with it, it would scan all credits for each move.
sighted AS ${engine === 'postgres' ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (
  SELECT m.organization_id, m.project_id, m.vintage, m.place, m.moved_micro, m.observed_at, c.seen_at
  FROM ${mirror}credit_moves AS m CROSS JOIN credits AS c
  WHERE coalesce(m.type, '') <> 'exAnte' AND m.moved_micro <> 0 AND c.credit_id = m.credit_id
),
moved AS MATERIALIZED (
  SELECT p.project_id, p.vintage, ${sum(fallen)} AS fallen, ${sum(`CASE WHEN m.seen_at > p.since THEN ${fallen} ELSE 0 END`)} AS fallen_new,
    ${sum(`CASE WHEN m.seen_at <= p.since AND m.place <> 'reserved' THEN ${risen} ELSE 0 END`)} AS risen,
    max(CASE WHEN m.moved_micro > 0 THEN m.observed_at END) AS rose_at
  FROM sighted AS m CROSS JOIN judged AS j CROSS JOIN places AS p
  WHERE j.organization_id = m.organization_id AND p.project_id = m.project_id AND p.vintage = m.vintage AND m.observed_at > p.since
  GROUP BY p.project_id, p.vintage
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
  SELECT project_id, vintage, 0, 0, 0, fallen, fallen_new, 0, 0, risen, 0, rose_at FROM moved
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
  'Serializations of issued credits. Each must belong to one credit only, in all lists and regardless of upper and lower case. A serialization names a token and not a range of numbers, so it does not show the amount.',
  {
    serialization: ['text', 'public serial number of the credit, in lower case', SURE],
    credit_id: ['text', 'id of the credit with this serialization; the lowest id if there are several', SURE],
    other_credit_id: [
      'text',
      'highest id of the credits with this serialization; equal to credit_id if there is only one',
      SURE,
    ],
    rows: ['int', 'number of rows with this serialization', SURE],
    balanced: ['int', '1 if the serialization belongs to one credit only, else 0', SURE],
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

/** The columns whose change restates a retirement. The project's name is none of them. */
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
  'Restatements: retirements that the registry changed or removed after the year of their date had ended, certificates that were replaced by another file at any time, and certificates that were removed after that year. Changes within the year and new names of projects appear only in the view changes.',
  {
    number: ['int', 'number of the change, as in changes', SURE],
    observed_at: [
      'instant',
      'when the mirror observed the change; the registry may have made it earlier',
      SURE,
    ],
    organization_id: ['text', 'id of the organization that owns the retirement', SURE],
    resource: ['text', 'retirements or certificates', SURE],
    id: ['text', 'id of the retirement', SURE],
    year: [
      'text',
      'year of the retirement before the change, in UTC; NULL if the registry sent no usable date',
    ],
    change: ['text', 'changed or removed', SURE],
    before: [
      'text',
      'value before the change: amount_exact of the retirement, or SHA-256 of the certificate',
    ],
    after: ['text', 'value after the change; NULL if the retirement or certificate was removed'],
    sync_id: ['int', 'sync that observed the change (syncs.id)'],
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
  'Number of rows of each kind of finding at this moment: unbalanced rows of each balance, restatements, and rows of credit_findings. The query reads every row of the lists. To count one kind alone, select it by its name.',
  {
    finding: ['text', 'name of the balance view, restatements, or credit_findings.finding', SURE],
    rows: ['int', 'number of rows', SURE],
  },
  ({ mirror, word }) =>
    [
      ...COUNTED.map(name => [name, `${name} WHERE balanced = 0`]),
      ['restatements', 'restatements'],
      ...KINDS.map(kind => [kind, `credit_findings WHERE finding = '${kind}'`]),
    ]
      .map(([finding = '', rows]) => `SELECT ${word(finding)}, (SELECT count(*) FROM ${mirror}${rows})`)
      .join('\nUNION ALL\n'),
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
