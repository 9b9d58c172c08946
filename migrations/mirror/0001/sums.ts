import { type Columns, DATED, type Dialect, SURE, type TextOf, VERSION, view, whole } from '../../schema.js';
import { RESERVATION } from './mirrored.js';

const CREDITS = {
  organization_id: ['text', 'who owns the credits', SURE],
  organization_name: ['text', 'its name'],
  project_id: ['text', 'the project that issued them'],
  project_name: ['text', 'its name'],
  vintage: ['text', 'year of the reduction'],
  type: ['text', 'exPost (issued) or exAnte (expected)'],
} as const satisfies Columns;

const SUM = {
  amount: ['real', 'tonnes, to look at'],
  amount_micro: ['large', 'millionths of a tonne, exact; null where the sum is too large for that'],
} as const satisfies Columns;

const NOT_SUMMED = {
  rows_without_amount: ['int', 'how many of them have no amount_micro and are left out of the sum', SURE],
} as const satisfies Columns;

const OF_WAREHOUSE = {
  ...CREDITS,
  ...SUM,
  rows: ['int', 'how many rows of warehouse_credits', SURE],
  ...NOT_SUMMED,
} as const satisfies Columns;

const READ = {
  failing_since: ['instant', 'since when reads of the warehouse have failed; null where the last did not'],
  as_of: ['instant', 'start of the last complete read of the warehouse'],
  age_seconds: ['int', 'how long ago that was'],
  credit_id: ['text', 'the credit, by which it is reserved', SURE],
} as const satisfies Columns;

const exactOf = (amount: string) =>
  `millionths of a tonne, exact; null where ${amount} is, or where the sum is too large for that`;

/** Ex-post and ex-ante amounts have separate columns, so that nobody adds them by mistake. */
const BY_TYPE = {
  amount_ex_post: ['real', 'tonnes, to look at; null where type is not exPost'],
  amount_ex_post_micro: ['large', exactOf('amount_ex_post')],
  amount_ex_ante: ['real', 'tonnes, to look at; null where type is not exAnte'],
  amount_ex_ante_micro: ['large', exactOf('amount_ex_ante')],
} as const satisfies Columns;

/** The sums of warehouses, with amounts by type. */
const STOCK = {
  ...CREDITS,
  ...BY_TYPE,
  rows: ['int', 'how many rows of warehouse_credits', SURE],
  rows_without_amount: [
    'int',
    'how many of them are in none of these sums: they have no amount_micro, or are of another type',
    SURE,
  ],
} as const satisfies Columns;

const AVAILABLE = {
  ...STOCK,
  ...READ,
} as const satisfies Columns;

const LAST_KNOWN = {
  ...STOCK,
  freshness: ['text', 'its state, which is not fresh'],
  reason: ['text', 'why it is not'],
  ...READ,
} as const satisfies Columns;

/** Rows of `warehouse_sums`, with their amounts in the columns of their type. */
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
  rows: ['int', 'how many retirements', SURE],
  ...NOT_SUMMED,
  freshness: ['text', "state of the organization's retirements in the view freshness"],
  reason: ['text', 'why, as it has it'],
  failing_since: ['instant', 'since when reads of them have failed; null where the last did not'],
  as_of: ['instant', 'start of the last complete read of them'],
  age_seconds: ['int', 'how long ago that was'],
} as const satisfies Columns;

/** Whole tonnes and the millionths beyond, each by itself: no sum of them overflows. */
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
    'Credits in the warehouses by organization, project, vintage, type and credit, whatever their freshness. Amounts are added in whole tonnes and in millionths beyond, so that no sum overflows.',
    {
      ...OF_WAREHOUSE,
      freshness: ['text', "state of the organization's warehouse in the view freshness"],
      reason: ['text', 'why, as it has it'],
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
    'Credits that are available to sell now: every warehouse that is fresh. The registry has already taken reserved credits out.',
    AVAILABLE,
    dialect => selectStock(dialect, AVAILABLE, "freshness = 'fresh'"),
  ),
  view(
    'mirror.last_known_credits',
    'What was there when it was last seen, of every warehouse that is not fresh. Do not sell from it.',
    LAST_KNOWN,
    dialect => selectStock(dialect, LAST_KNOWN, "freshness IS DISTINCT FROM 'fresh'"),
  ),
  view(
    'mirror.retirements_by_beneficiary',
    'Retirements added up by beneficiary.',
    {
      organization_id: ['text', 'who retired', SURE],
      beneficiary: ['text', 'for whom; null where nobody has claimed it'],
      ...OF_RETIREMENTS,
    },
    retired('beneficiary', () => "nullif(beneficiary, '')"),
  ),
  view(
    'mirror.retirements_by_month',
    'Retirements added up by month of their creation, in UTC.',
    {
      organization_id: ['text', 'who retired', SURE],
      month: ['text', 'YYYY-MM; null where the registry sent no usable date'],
      ...OF_RETIREMENTS,
    },
    retired('month', ({ month }) => month('created_at')),
  ),
  view(
    'mirror.certificates_missing',
    'Retirements whose certificate is not here: not asked for yet, or there is none yet.',
    {
      organization_id: ['text', 'whose retirement', SURE],
      retirement_id: ['text', 'the retirement', SURE],
      state: ['text', 'pending or unavailable', SURE],
      checked_at: ['instant', 'when the registry was last asked for it; null where it never was'],
      due_at: ['instant', 'when it is to be asked next; null where that is at once'],
      attempts: ['int', 'questions in a row that brought no file', SURE],
      error: ['text', 'why the latest answer was not stored'],
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
    'Scheduled syncs that found changes that no delivery had announced. Each one is a lost or missing webhook.',
    {
      sync_id: ['int', 'the sync that found it', SURE],
      organization_id: ['text', 'whose resource'],
      resource: ['text', 'what had changed', SURE],
      started_at: ['instant', 'when the sync began', SURE],
      drift: ['int', 'how many rows', SURE],
      rows_added: ['int', 'rows that were not there before', SURE],
      rows_changed: ['int', 'rows that got a new version', SURE],
      rows_removed: ['int', 'rows that were closed', SURE],
    },
    ({
      mirror,
    }) => `SELECT id, organization_id, resource, started_at, drift, rows_added, rows_changed, rows_removed
FROM ${mirror}syncs
WHERE drift > 0`,
  ),
  view(
    'mirror.reservations_now',
    'Reservations as they stand at this moment, to the second: a reservation ends by the clock, without any event.',
    {
      ...HELD,
      state_now: ['text', 'outstanding, finished, cancelled or expired, worked out when this is read', SURE],
      seconds_left: ['int', 'how long the reservation still lasts; null unless it is outstanding'],
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
