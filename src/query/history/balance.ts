import type { Reader } from '../../store/contract/reader.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { formatWithCommas } from '../../text/numbers.js';
import { type Answer, streamOf } from '../answer/answer.js';
import type { Micro } from './balance-reason.js';
import type { Caveat } from '../answer/caveat.js';
import { countInstalled, countSummedOrganizations } from '../coverage.js';
import { readOrganizationNames } from '../names.js';
import { buildOrganizationCondition, countRows } from '../read-one.js';
import { AMOUNTS, type BalanceGroup, readCreditGroups, readRetirementGroups } from './balance-groups.js';

interface Line extends Omit<BalanceGroup, 'sum'> {
  /** A sum that is checked, or a row that does not balance and is part of a sum. */
  kind: 'sum' | 'difference';
  organization_name: string | null;
  /** The name of the sum, such as `by month`, or of the row, such as `month 2026-01`. */
  what: string;
}

/** A sum of the balance check, or a row that does not balance. */
export type BalanceLine = Readonly<Line>;

/** The columns of CSV files, in order. */
export const BALANCE_COLUMNS = [
  'identity',
  'organization_name',
  'organization_id',
  'what',
  'type',
  'rows',
  'opening_at',
  ...AMOUNTS,
  'balanced',
  'why',
];

/**
 * Checks that credits and retirements add up. The answer has all sums, then each row that does not balance, because two errors may cancel
 * each other out in a sum. `onCheck` is called with the name of each check when it starts. The answer does not say how fresh the rows are:
 * the check compares rows of the mirror with each other, however old they are.
 */
export async function readBalance(
  reader: Reader,
  organizationId: string | null,
  onCheck: (identity: Line['identity']) => void = () => undefined,
): Promise<Answer<BalanceLine>> {
  const names = new Map((await readOrganizationNames(reader)).map(({ id, name }) => [id, name]));
  const sums = new Map<string, Line>();
  const differences: BalanceLine[] = [];
  for await (const { sum: name, ...group } of readGroups(reader, organizationId, onCheck)) {
    const line: Line = {
      ...group,
      kind: 'difference',
      organization_name: names.get(group.organization_id ?? '') ?? null,
      what: group.what ?? name,
    };
    const key = JSON.stringify([line.identity, line.organization_id, name, line.type]);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...line, kind: 'sum', what: name, why: null });
    else addToSum(sum, line);
    if (!line.balanced) differences.push(line);
  }
  const rowsWithoutAmount = await countRowsWithoutAmount(reader, organizationId);
  const counted = await countSummedOrganizations(reader, 'installed', organizationId);
  const known = await countInstalled(reader, organizationId);
  const uninstalled = await countSummedOrganizations(reader, 'uninstalled', organizationId);
  const caveats: Caveat[] = [];
  if (uninstalled > 0) caveats.push({ code: 'uninstalled_included', organizations: uninstalled });
  if (rowsWithoutAmount > 0) caveats.push({ code: 'without_amount', rows: rowsWithoutAmount });
  return {
    at: null,
    rows: streamOf([...sums.values(), ...differences]),
    totals: { rows: sums.size + differences.length, hasMore: false, amounts: null, rowsWithoutAmount },
    coverage: { counted, known, missing: known - counted },
    freshness: [],
    gaps: [],
    caveats,
  };
}

/**
 * Streams the groups of rows of the two balance checks: retirements, then credits. Calls `onCheck` with the name of the check
 * before its groups.
 */
async function* readGroups(
  reader: Reader,
  organizationId: string | null,
  onCheck: (identity: Line['identity']) => void,
): AsyncGenerator<BalanceGroup> {
  onCheck('retirements');
  yield* readRetirementGroups(reader, organizationId);
  onCheck('credits');
  yield* readCreditGroups(reader, organizationId);
}

/** Adds the rows and amounts of a line to a sum. The sum is balanced only if all of its lines are. */
function addToSum(sum: Line, line: BalanceLine): void {
  sum.rows += line.rows;
  for (const name of AMOUNTS) sum[name] = addAmounts(sum[name], line[name]);
  sum.balanced &&= line.balanced;
}

/** Adds two amounts. If one of them is null, returns the other. */
function addAmounts(one: Micro, other: Micro): Micro {
  return one === null || other === null ? (one ?? other) : BigInt(one) + BigInt(other);
}

/** Counts the rows whose amount is not usable. They are in no sum. */
async function countRowsWithoutAmount(reader: Reader, organizationId: string | null): Promise<number> {
  const counts = ['retirements', 'listed_and_reserved_credits'] as const;
  let sum = 0;
  for (const name of counts)
    sum += await countRows(
      reader,
      queryBuilder
        .selectFrom(`mirror.${name}`)
        .select('version')
        .where('amount_micro', 'is', null)
        .where(buildOrganizationCondition(organizationId)),
    );
  return sum;
}

/** The lines of a balance check. */
export interface BalanceLines {
  readonly sums: readonly BalanceLine[];
  readonly differences: readonly BalanceLine[];
  /** Null if there is nothing to check yet. */
  readonly balanced: boolean | null;
}

/** Collects the lines of a balance check: sums, and rows that do not balance. */
export async function collectBalance({ rows }: Pick<Answer<BalanceLine>, 'rows'>): Promise<BalanceLines> {
  const sums: BalanceLine[] = [];
  const differences: BalanceLine[] = [];
  for await (const line of rows) (line.kind === 'sum' ? sums : differences).push(line);
  const isKnown = sums.some(({ rows: count, opening_micro: opening }) => count > 0 || (opening ?? 0) > 0);
  return { sums, differences, balanced: isKnown ? differences.length === 0 : null };
}

/** Selects the sums that people see. A balanced sum without rows counts as a check, but is hidden. */
export function selectListedSums(sums: readonly BalanceLine[]): BalanceLine[] {
  return sums.filter(line => line.rows > 0 || !line.balanced);
}

/** How many sums of single organizations people see. Programs get all. */
export const MAX_SUMS_SHOWN = 20;

/** The sums in the order in which people read them: totals over all organizations, sums that fail, and the first of the rest. */
export interface ReadableSums {
  readonly totals: readonly BalanceLine[];
  readonly failed: readonly BalanceLine[];
  readonly shown: readonly BalanceLine[];
  readonly hiddenCount: number;
}

/**
 * Shortens a long list of sums for people. Adds totals over all organizations, and keeps at most `MAX_SUMS_SHOWN` sums of single
 * organizations, first those that fail. Returns a short list without totals.
 */
export function toReadableSums(sums: readonly BalanceLine[]): ReadableSums {
  const listed = selectListedSums(sums);
  if (listed.length <= MAX_SUMS_SHOWN) return { totals: [], failed: [], shown: listed, hiddenCount: 0 };
  const totals = new Map<string, Line>();
  for (const line of listed) {
    const key = JSON.stringify([line.identity, line.what, line.type]);
    const total = totals.get(key);
    if (total === undefined) totals.set(key, { ...line, organization_id: null, organization_name: null });
    else addToSum(total, line);
  }
  const failed = listed.filter(line => !line.balanced).slice(0, MAX_SUMS_SHOWN);
  const shown = listed.filter(line => line.balanced).slice(0, MAX_SUMS_SHOWN - failed.length);
  return {
    totals: [...totals.values()],
    failed,
    shown,
    hiddenCount: listed.length - failed.length - shown.length,
  };
}

/**
 * Describes how many checks passed or failed, such as "1 of 5 checks failed." If sums have nothing to check, a second sentence says how
 * many are hidden. The caller must show only the sums that `selectListedSums` returns.
 */
export function describeVerdict(sums: readonly BalanceLine[]): string {
  const failed = sums.filter(line => !line.balanced).length;
  const all = formatWithCommas(sums.length);
  const empty = sums.length - selectListedSums(sums).length;
  const hidden = empty === 0 ? '' : ` ${formatWithCommas(empty)} with nothing to check are hidden.`;
  const verdict =
    failed === 0 ? `All ${all} checks passed.` : `${formatWithCommas(failed)} of ${all} checks failed.`;
  return `${verdict}${hidden}`;
}
