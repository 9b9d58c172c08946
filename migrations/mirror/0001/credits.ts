import { type Columns, type Dialect, SURE, view, wholeOrNull } from '../../schema.js';

export const MICRO = 'millionths of a tonne';

/** Columns that several views of credits have. */
export const CREDIT = {
  organization_id: ['text', 'id of the organization whose list contains the credit', SURE],
  place: ['text', 'where the credit is: warehouse, inventory or reserved', SURE],
  credit_id: ['text', 'id of the credit at the registry', SURE],
  part: ['text', 'row of the credit within that place: the inventory_id, or the id of the reservation', SURE],
  project_id: ['text', 'id of the project that issued the credit'],
  vintage: [
    'text',
    'year of the emission reduction; for reservations, the year at the end of the serialization',
  ],
  serialization: ['text', 'public serial number of the credit'],
  type: ['text', 'exPost (issued credits) or exAnte (expected credits)'],
} as const satisfies Columns;

/** The columns of a row of credits in any place. */
const VERSION_OF_CREDIT = {
  version: ['int', 'version number of the row; rises across all tables and is never reused', SURE],
  resource: ['text', 'list that contains the row, as in syncs.resource', SURE],
  ...CREDIT,
  amount_micro: [
    'large',
    `amount in ${MICRO}; NULL if it has more than six decimals, is too large or is not usable`,
  ],
  ends_at: [
    'instant',
    'from when on the amount counts as 0: when the reservation expires, or valid_from if the registry reported it as completed or ended. NULL if it is not a reservation, or never expires',
  ],
  valid_from: [
    'instant',
    'when the mirror received this version; the registry may have made the change earlier',
    SURE,
  ],
} as const satisfies Columns;

const ENDED = "('finished', 'cancelled', 'expired')";

/** Casts to the type of text columns: SQLite merges a view with a query only if all parts of the view have the same types. */
const textColumn = ({ as, bytewise }: Dialect, text: string): string => bytewise(as('text', text));

const CREDITS = view(
  'mirror.listed_and_reserved_credits',
  'Current rows of warehouse_credits, inventory_credits and reservations, with the same columns.',
  {
    ...VERSION_OF_CREDIT,
    amount_exact: [
      'text',
      "amount in tonnes, in the registry's own digits; NULL if it sent no usable number",
    ],
  },
  dialect => {
    const { mirror, as, lastYear } = dialect;
    const place = (name: string) => textColumn(dialect, `'${name}'`);
    return `SELECT version, ${place('warehouse')}, organization_id, ${place('warehouse')}, credit_id, inventory_id,
  project_id, vintage, serialization, type, amount_micro, ${as('instant', 'NULL')}, valid_from, amount_exact
FROM ${mirror}warehouse_credits
UNION ALL
SELECT version, ${place('inventory')}, organization_id, ${place('inventory')}, credit_id, inventory_id,
  project_id, vintage, serialization, type, amount_micro, ${as('instant', 'NULL')}, valid_from, amount_exact
FROM ${mirror}inventory_credits
UNION ALL
SELECT version, ${place('reservations')}, organization_id, ${place('reserved')}, credit_id, id,
  project_id, ${textColumn(dialect, lastYear('serialization'))}, serialization, type, amount_micro,
  ${as('instant', `CASE WHEN is_complete = 1 OR lower(state) IN ${ENDED} THEN valid_from ELSE reserved_to_at END`)}, valid_from, amount_exact
FROM ${mirror}reservations`;
  },
);

const PAST_CREDITS = view(
  'mirror.past_credits',
  'Past versions of the rows of the view listed_and_reserved_credits: those that were replaced or removed.',
  {
    ...VERSION_OF_CREDIT,
    valid_to: ['instant', 'end of the version: it was valid before this instant, not at it', SURE],
    closed_version: [
      'int',
      'number of the change that ended this version: the version of the new row, or a number of its own if the row was removed',
      SURE,
    ],
    is_removed: ['int', '1 if the row was removed, 0 if a new version replaced it', SURE],
  },
  dialect => {
    const { mirror, as, cell, lastYear } = dialect;
    const text = (name: string) => cell('p', name, 'text');
    return `SELECT p.version, p.resource, p.organization_id,
  ${textColumn(dialect, "CASE p.resource WHEN 'reservations' THEN 'reserved' ELSE p.resource END")},
  ${textColumn(dialect, `CASE p.resource WHEN 'reservations' THEN ${text('credit_id')} ELSE p.key END`)},
  ${textColumn(dialect, `CASE p.resource WHEN 'reservations' THEN p.key ELSE ${text('inventory_id')} END`)},
  ${text('project_id')},
  ${textColumn(dialect, `CASE p.resource WHEN 'reservations' THEN ${lastYear(text('serialization'))} ELSE ${text('vintage')} END`)},
  ${text('serialization')}, ${text('type')}, ${cell('p', 'amount_micro', 'large')},
  ${as(
    'instant',
    `CASE WHEN p.resource <> 'reservations' THEN NULL
      WHEN ${cell('p', 'is_complete', 'int')} = 1 OR lower(${text('state')}) IN ${ENDED} THEN p.valid_from
      ELSE ${cell('p', 'reserved_to_at', 'instant')} END`,
  )},
  p.valid_from, p.valid_to, p.closed_version, p.is_removed
FROM ${mirror}past AS p
WHERE p.resource IN ('warehouse', 'inventory', 'reservations')`;
  },
);

const CREDIT_VERSIONS = view(
  'mirror.credit_versions',
  'All versions of the rows of the view listed_and_reserved_credits, past and current. State at an instant: valid_from <= instant AND (valid_to IS NULL OR valid_to > instant).',
  {
    ...VERSION_OF_CREDIT,
    valid_to: [
      'instant',
      'end of the version: it was valid before this instant, not at it. NULL if it is current',
    ],
  },
  ({ mirror, as }) => `SELECT version, resource, organization_id, place, credit_id, part,
  project_id, vintage, serialization, type, amount_micro, ends_at, valid_from, valid_to
FROM ${mirror}past_credits
UNION ALL
SELECT version, resource, organization_id, place, credit_id, part,
  project_id, vintage, serialization, type, amount_micro, ends_at, valid_from, ${as('instant', 'NULL')}
FROM ${mirror}listed_and_reserved_credits`,
);

const CREDIT_MOVES = view(
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
    organization_id: CREDIT.organization_id,
    place: [
      'text',
      'where the amount changed: warehouse, inventory or reserved. Reservations that have ended or expired count as 0',
      SURE,
    ],
    credit_id: CREDIT.credit_id,
    part: CREDIT.part,
    project_id: CREDIT.project_id,
    vintage: CREDIT.vintage,
    serialization: CREDIT.serialization,
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
    type: CREDIT.type,
  },
  ({ mirror, as, now }) => {
    const before = 'CASE WHEN p.ends_at <= p.valid_to THEN 0 ELSE p.amount_micro END';
    const after = 'CASE WHEN n.ends_at <= n.valid_from THEN 0 ELSE n.amount_micro END';
    const wide = (micro: string) => `CAST(coalesce(${micro}, 0) AS numeric)`;
    return `-- Rows that appeared or changed: n is the new version, p the one before it, if any.
SELECT n.version, n.valid_from, n.organization_id, n.place, n.credit_id, n.part, n.project_id, n.vintage, n.serialization,
  ${before}, ${after}, ${wholeOrNull(`(${wide(after)} - ${wide(before)})`)}, n.type
FROM ${mirror}credit_versions AS n LEFT JOIN ${mirror}past_credits AS p ON p.closed_version = n.version
WHERE EXISTS (
  SELECT 1 FROM ${mirror}resource_states AS s
  WHERE s.organization_id = n.organization_id AND s.resource = n.resource AND s.first_complete_at < n.valid_from)
UNION ALL
-- Rows that were removed.
SELECT p.closed_version, p.valid_to, p.organization_id, p.place, p.credit_id, p.part, p.project_id, p.vintage, p.serialization,
  ${before}, ${as('large', 'NULL')}, ${wholeOrNull(`(0 - ${wide(before)})`)}, p.type
FROM ${mirror}past_credits AS p
WHERE p.is_removed = 1 AND EXISTS (
  SELECT 1 FROM ${mirror}resource_states AS s
  WHERE s.organization_id = p.organization_id AND s.resource = p.resource AND s.first_complete_at < p.valid_to)
UNION ALL
-- Reservations that expired while the registry still listed them as open.
SELECT h.version, h.ends_at, h.organization_id, h.place, h.credit_id, h.part, h.project_id, h.vintage, h.serialization,
  h.amount_micro, ${as('large', '0')}, ${wholeOrNull(`(0 - ${wide('h.amount_micro')})`)}, h.type
FROM ${mirror}credit_versions AS h
WHERE h.resource = 'reservations' AND h.ends_at > h.valid_from AND h.ends_at <= coalesce(h.valid_to, ${now}) AND EXISTS (
  SELECT 1 FROM ${mirror}resource_states AS s
  WHERE s.organization_id = h.organization_id AND s.resource = h.resource AND s.first_complete_at < h.ends_at)`;
  },
);

const CREDIT_USES = view(
  'mirror.credit_uses',
  'Finished reservations, and inventory requests to retire that were carried out: credits that left the lists of an organization for good. Retirements without a reservation or a request have no row here.',
  {
    organization_id: ['text', 'id of the organization whose list contains the row', SURE],
    resource: ['text', 'reservations or inventory_requests', SURE],
    id: ['text', 'id of the reservation or request at the registry', SURE],
    serialization: CREDIT.serialization,
    project_id: CREDIT.project_id,
    vintage: CREDIT.vintage,
    amount_micro: VERSION_OF_CREDIT.amount_micro,
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
  }) => `SELECT organization_id, ${word('reservations')}, id, serialization, project_id, ${lastYear('serialization')},
  amount_micro, created_at, coalesce(updated_at, reserved_to_at)
FROM ${mirror}reservations
WHERE is_complete = 1 OR lower(state) = 'finished'
UNION ALL
SELECT organization_id, ${word('inventory_requests')}, id, serialization, project_id, vintage, amount_micro, created_at, updated_at
FROM ${mirror}inventory_requests
WHERE tx_id IS NOT NULL AND lower(action) IN ('retire', 'transfer_retire')
  AND coalesce(from_organization_id, organization_id) = organization_id`,
);

export const CREDITS_AND_MOVES = [CREDITS, PAST_CREDITS, CREDIT_VERSIONS, CREDIT_MOVES, CREDIT_USES] as const;
