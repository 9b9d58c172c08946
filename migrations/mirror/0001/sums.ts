import { type Columns, DATED, type Dialect, SURE, type TextOf, VERSION, view, whole } from '../../schema.js';
import { RESERVATION } from './mirrored.js';

const CREDITS = {
  organization_id: ['text', 'id of the organization that owns the credits', SURE],
  organization_name: ['text', 'name of the organization; NULL if unknown'],
  project_id: ['text', 'id of the project that issued the credits'],
  project_name: ['text', 'name of the project; NULL if unknown'],
  vintage: ['text', 'year of the emission reduction'],
  type: ['text', 'exPost (issued credits) or exAnte (expected credits)'],
} as const satisfies Columns;

const SUM = {
  amount: ['real', 'sum in tonnes, for display'],
  amount_micro: ['large', 'exact sum in millionths of a tonne; NULL if it is too large for a 64-bit integer'],
} as const satisfies Columns;

const NOT_SUMMED = {
  rows_without_amount: [
    'int',
    'number of rows that the sum leaves out, because their amount_micro is NULL',
    SURE,
  ],
} as const satisfies Columns;

const OF_WAREHOUSE = {
  ...CREDITS,
  ...SUM,
  rows: ['int', 'number of rows of warehouse_credits', SURE],
  ...NOT_SUMMED,
} as const satisfies Columns;

const READ = {
  failing_since: [
    'instant',
    'start of the first read of the warehouse that failed or was incomplete since the last complete one; NULL if the last read was complete',
  ],
  as_of: ['instant', 'start of the last complete read of the warehouse; NULL if there was none'],
  age_seconds: ['int', 'seconds since as_of; NULL if as_of is NULL'],
  credit_id: ['text', 'id of the credit, as used for reservations', SURE],
} as const satisfies Columns;

const exactOf = (amount: string) =>
  `exact sum in millionths of a tonne; NULL if ${amount} is NULL or the sum is too large for a 64-bit integer`;

/** Ex-post and ex-ante amounts have separate columns, so that nobody adds them by mistake. */
const BY_TYPE = {
  amount_ex_post: ['real', 'sum of issued credits in tonnes, for display; NULL if type is not exPost'],
  amount_ex_post_micro: ['large', exactOf('amount_ex_post')],
  amount_ex_ante: ['real', 'sum of expected credits in tonnes, for display; NULL if type is not exAnte'],
  amount_ex_ante_micro: ['large', exactOf('amount_ex_ante')],
} as const satisfies Columns;

/** The columns of warehouse sums, with separate amounts for each type. */
const STOCK = {
  ...CREDITS,
  ...BY_TYPE,
  rows: ['int', 'number of rows of warehouse_credits', SURE],
  rows_without_amount: [
    'int',
    'number of rows that the sums leave out, because their amount_micro is NULL or their type is neither exPost nor exAnte',
    SURE,
  ],
} as const satisfies Columns;

const AVAILABLE = {
  ...STOCK,
  ...READ,
} as const satisfies Columns;

const LAST_KNOWN = {
  ...STOCK,
  freshness: [
    'text',
    'state of the warehouse in the view freshness; never fresh. NULL if the view has no row',
  ],
  reason: ['text', 'reason for the state, as in the view freshness'],
  ...READ,
} as const satisfies Columns;

/** Returns a query of `warehouse_sums` that puts each amount into the column of its type. */
function selectStock({ mirror }: Dialect, columns: Columns, condition: string): string {
  const amounts: Readonly<Record<string, string>> = {
    amount_ex_post: "CASE WHEN type = 'exPost' THEN amount END",
    amount_ex_post_micro: "CASE WHEN type = 'exPost' THEN amount_micro END",
    amount_ex_ante: "CASE WHEN type = 'exAnte' THEN amount END",
    amount_ex_ante_micro: "CASE WHEN type = 'exAnte' THEN amount_micro END",
    rows_without_amount: "CASE WHEN type IN ('exPost', 'exAnte') THEN rows_without_amount ELSE rows END",
  };
  const selected = Object.keys(columns).map(name => amounts[name] ?? name);
  return `SELECT ${selected.join(', ')} FROM ${mirror}warehouse_sums WHERE ${condition}`;
}

const OF_RETIREMENTS = {
  ...SUM,
  rows: ['int', 'number of retirements', SURE],
  ...NOT_SUMMED,
  freshness: ['text', "state of the organization's retirements, as in the view freshness"],
  reason: ['text', 'reason for the state, as in the view freshness'],
  failing_since: [
    'instant',
    'start of the first read of retirements that failed or was incomplete since the last complete one; NULL if the last read was complete',
  ],
  as_of: ['instant', 'start of the last complete read of retirements; NULL if there was none'],
  age_seconds: ['int', 'seconds since as_of; NULL if as_of is NULL'],
} as const satisfies Columns;

/** Adds whole tonnes and remaining millionths separately, so that neither sum overflows. */
const ADDED = `${whole('coalesce(sum(amount_micro / 1000000), 0)')} AS tonnes,
    ${whole('coalesce(sum(amount_micro % 1000000), 0)')} AS micro,
    count(*) AS rows,
    count(*) - count(amount_micro) AS rows_without_amount`;

const shown = ({ as }: Dialect): string => `s.tonnes + s.micro / ${as('real', '1000000.0')},
  CASE WHEN abs(s.tonnes) < 9000000000000 THEN s.tonnes * 1000000 + s.micro END,
  s.rows, s.rows_without_amount, f.state, f.reason, f.failing_since, f.as_of, f.age_seconds`;

const retired =
  (name: string, by: (dialect: Dialect) => string): TextOf =>
  dialect =>
    `WITH sums AS (
  SELECT organization_id, ${by(dialect)} AS ${name},
    ${ADDED}
  FROM ${dialect.mirror}retirements
  GROUP BY 1, 2
)
SELECT s.organization_id, s.${name}, ${shown(dialect)}
FROM sums AS s
LEFT JOIN ${dialect.mirror}freshness AS f ON f.organization_id = s.organization_id AND f.resource = 'retirements'`;

const { document: _, ...DATES } = DATED;
const HELD = { ...VERSION, ...RESERVATION, ...DATES } as const satisfies Columns;

export const SUMS = [
  view(
    'mirror.warehouse_sums',
    'Sums of the credits in warehouses by organization, project, vintage, type and credit. Includes warehouses that are not fresh.',
    {
      ...OF_WAREHOUSE,
      freshness: ['text', "state of the organization's warehouse, as in the view freshness"],
      reason: ['text', 'reason for the state, as in the view freshness'],
      ...READ,
    },
    dialect => `WITH sums AS (
  SELECT organization_id, project_id, vintage, type, credit_id,
    max(project_name) AS project_name,
    ${ADDED}
  FROM ${dialect.mirror}warehouse_credits
  GROUP BY organization_id, project_id, vintage, type, credit_id
)
SELECT s.organization_id, o.full_name, s.project_id, coalesce(p.full_name, s.project_name), s.vintage, s.type,
  ${shown(dialect)}, s.credit_id
FROM sums AS s
LEFT JOIN ${dialect.mirror}freshness AS f ON f.organization_id = s.organization_id AND f.resource = 'warehouse'
LEFT JOIN ${dialect.mirror}organizations AS o ON o.id = s.organization_id
LEFT JOIN ${dialect.mirror}projects AS p ON p.id = s.project_id`,
  ),
  view(
    'mirror.available_credits',
    'Credits that can be sold now: sums of the warehouses that are fresh. Reserved credits are not included.',
    AVAILABLE,
    dialect => selectStock(dialect, AVAILABLE, "freshness = 'fresh'"),
  ),
  view(
    'mirror.last_known_credits',
    'Last known sums of the warehouses that are not fresh. Do not sell these credits: they may be gone.',
    LAST_KNOWN,
    dialect => selectStock(dialect, LAST_KNOWN, "freshness IS DISTINCT FROM 'fresh'"),
  ),
  view(
    'mirror.retirements_by_beneficiary',
    'Sums of retirements by organization and beneficiary.',
    {
      organization_id: ['text', 'id of the organization that retired the credits', SURE],
      beneficiary: ['text', 'beneficiary of the retirements; NULL if nobody has claimed them'],
      ...OF_RETIREMENTS,
    },
    retired('beneficiary', () => "nullif(beneficiary, '')"),
  ),
  view(
    'mirror.retirements_by_month',
    'Sums of retirements by organization and month of creation, in UTC.',
    {
      organization_id: ['text', 'id of the organization that retired the credits', SURE],
      month: ['text', 'month as YYYY-MM; NULL if the registry sent no usable date'],
      ...OF_RETIREMENTS,
    },
    retired('month', ({ month }) => month('created_at')),
  ),
  view(
    'mirror.certificates_missing',
    'Retirements whose certificate is not stored: it was not requested yet, or the registry has none yet.',
    {
      organization_id: ['text', 'id of the organization that owns the retirement', SURE],
      retirement_id: ['text', 'id of the retirement', SURE],
      state: ['text', 'pending (not requested yet) or unavailable (the registry has none yet)', SURE],
      checked_at: ['instant', 'when the certificate was last requested; NULL if it never was'],
      due_at: ['instant', 'when the certificate is requested next; NULL if it is requested at once'],
      attempts: ['int', 'consecutive requests that returned no file', SURE],
      error: ['text', 'why the last request stored no file; NULL if nothing went wrong'],
    },
    ({ mirror, as }) => `SELECT organization_id, retirement_id, state, checked_at, due_at, attempts, error
FROM ${mirror}certificates
WHERE state <> 'stored'
UNION ALL
SELECT r.organization_id, r.id, 'pending', ${as('instant', 'NULL')}, ${as('instant', 'NULL')}, 0, NULL
FROM ${mirror}retirements AS r
WHERE r.version > (SELECT retirement_version FROM ${mirror}certificate_mark)
  AND NOT EXISTS (
    SELECT 1 FROM ${mirror}certificates AS c WHERE c.organization_id = r.organization_id AND c.retirement_id = r.id
  )`,
  ),
  view(
    'mirror.drift',
    'Scheduled syncs that found changes that no delivery had announced. Each row means that a webhook was lost or never sent.',
    {
      sync_id: ['int', 'id of the sync that found the changes', SURE],
      organization_id: ['text', 'id of the organization'],
      resource: ['text', 'name of the resource that had changed', SURE],
      started_at: ['instant', 'start of the sync', SURE],
      drift: ['int', 'number of changes that no delivery had announced', SURE],
      rows_added: ['int', 'number of rows that were added', SURE],
      rows_changed: ['int', 'number of rows that got a new version', SURE],
      rows_removed: ['int', 'number of rows that were removed', SURE],
    },
    ({
      mirror,
    }) => `SELECT id, organization_id, resource, started_at, drift, rows_added, rows_changed, rows_removed
FROM ${mirror}syncs
WHERE drift > 0`,
  ),
  view(
    'mirror.reservations_now',
    'Reservations with their current state, exact to the second. A reservation expires by the clock, without a new read.',
    {
      ...HELD,
      state_now: ['text', 'current state: outstanding, finished, cancelled or expired', SURE],
      seconds_left: ['int', 'seconds until the reservation expires; NULL unless state_now is outstanding'],
    },
    ({ mirror, now, seconds, bytewise }) => `WITH reckoned AS (
  SELECT *, ${seconds(now)} AS now, ${seconds('reserved_to_at')} AS ends
  FROM ${mirror}reservations
),
named AS (
  SELECT *, ${bytewise(`CASE
    WHEN is_complete = 1 OR lower(state) = 'finished' THEN 'finished'
    WHEN lower(state) = 'cancelled' THEN 'cancelled'
    WHEN lower(state) = 'expired' OR ends <= now THEN 'expired'
    ELSE 'outstanding'
  END`)} AS state_now
  FROM reckoned
)
SELECT ${Object.keys(HELD).join(', ')}, state_now, CASE WHEN state_now = 'outstanding' THEN ends - now END
FROM named`,
  ),
] as const;
