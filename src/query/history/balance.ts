import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import { formatTonnes } from '../../text/tonnes.js';
import { count, ofOne, plain, sql, table } from '../sql.js';
import { countKnown, countSummed } from '../coverage.js';
import { readOrganizationNames } from '../names.js';

/** Null where it is too large, or not said. */
type Micro = number | bigint | null;

/** What is added up of each: what stood there at first, what it was seen to rise and to fall by since, what is listed, and what it has to be (of projects at most that, as far as it is explained, and what they rose by is what is there beyond the opening and what fell); what was retired and no reservation, request or fall explains; what is found beyond what is expected (of projects what is explained and was not seen to fall). */
const ADDED = [
  'opening_micro',
  'risen_micro',
  'fallen_micro',
  'found_micro',
  'expected_micro',
  'difference_micro',
] as const;
type Added = Record<(typeof ADDED)[number], Micro>;

/** What is added up, or a part of it that is not balanced: one side by side, as programs take it. */
export type BalanceLine = Readonly<Sum>;

interface Sum extends Added {
  identity: 'retirements' | 'credits';
  organization_name: string | null;
  organization_id: string | null;
  what: string;
  /** Of credits: exPost or exAnte, which are never one sum. */
  type: string | null;
  rows: number;
  /** When the opening stood there: its list had first been read completely. */
  opening_at: string | null;
  /** Null where it is not known yet. */
  balanced: boolean | null;
  /** In words, where it is not balanced. */
  why: string | null;
}

/** In the order in which programs take them. */
const DESCRIBED = ['identity', 'organization_name', 'organization_id', 'what', 'type', 'rows', 'opening_at'];
export const BALANCE_COLUMNS = [...DESCRIBED, ...ADDED, 'balanced', 'why'];

/** A row of one of the four views: what it is a part of, and what is to be said of it. */
type Part = Pick<BalanceLine, 'identity' | 'what' | 'rows' | 'why'> &
  Partial<Omit<BalanceLine, 'balanced'>> & { readonly sum: string; readonly balanced: Micro };

/** What was added up, and each part of it that is not balanced: two that are wrong may hide in a sum. `onIdentity` is called when another check begins. */
export async function readBalance(
  reader: Reader,
  organizationId: string | null,
  onIdentity?: (identity: Sum['identity']) => void,
) {
  const names = new Map((await readOrganizationNames(reader)).map(({ id, name }) => [id, name]));
  const sums = new Map<string, Sum>();
  const notBalanced: BalanceLine[] = [];
  for await (const part of readParts(reader, organizationId, onIdentity)) {
    const line = lineOf(part, names.get(part.organization_id ?? '') ?? null);
    const key = JSON.stringify([line.identity, line.organization_id, part.sum, line.type]);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...line, what: part.sum, why: null });
    else add(sum, line);
    if (line.balanced !== true) notBalanced.push(line);
  }
  const isKnown = [...sums.values()].some(({ rows, opening_micro: at }) => rows > 0 || (at ?? 0) > 0);
  return {
    organizations: await countSummed(reader, 'installed'),
    known: await countKnown(reader),
    /** Whose rows are in the sums, too. */
    uninstalled: await countSummed(reader, 'uninstalled'),
    balanced: isKnown ? notBalanced.every(line => line.balanced === null) : null,
    rowsWithoutAmount: await countWithoutAmount(reader, organizationId),
    sums: [...sums.values()],
    notBalanced,
  };
}

export type Balance = Awaited<ReturnType<typeof readBalance>>;

export function coverageOf({ organizations, known, uninstalled }: Balance): string {
  const gone = uninstalled === 0 ? '' : `, and of ${formatWithCommas(uninstalled)} that uninstalled the app`;
  return `Covers every list of ${organizations === known && known > 1 ? 'all ' : `${formatWithCommas(organizations)} of `}${formatCount(known, 'organization')}${gone}.`;
}

/** Of nothing, all is balanced: that is counted, and not listed. */
export function listedIn({ sums }: Balance): BalanceLine[] {
  return sums.filter(line => line.rows > 0 || line.balanced !== true);
}

/** How many sums of single organizations people are shown; programs get all. */
export const MAX_SUMS_SHOWN = 20;

/** The sums in the order in which people read them: totals over all organizations, sums that fail, and the first of the rest. */
export interface ReadableSums {
  readonly totals: readonly BalanceLine[];
  readonly failed: readonly BalanceLine[];
  readonly shown: readonly BalanceLine[];
  readonly hiddenCount: number;
}

/** Adds up the sums over all organizations, and limits the sums of single organizations to a readable number. */
export function toReadableSums(balance: Balance): ReadableSums {
  const listed = listedIn(balance);
  const ofOrganizations = listed.filter(({ organization_id: id }) => id !== null);
  if (ofOrganizations.length <= MAX_SUMS_SHOWN)
    return { totals: [], failed: [], shown: listed, hiddenCount: 0 };
  const totals = new Map<string, Sum>();
  for (const line of listed) {
    const total = totals.get(`${line.identity} ${line.what} ${line.type}`);
    if (total !== undefined) add(total, line);
    else
      totals.set(`${line.identity} ${line.what} ${line.type}`, {
        ...line,
        organization_id: null,
        organization_name: null,
      });
  }
  const failed = ofOrganizations.filter(line => line.balanced !== true);
  const others = ofOrganizations.filter(line => line.balanced === true);
  const shownFailed = failed.slice(0, MAX_SUMS_SHOWN);
  const shown = others.slice(0, MAX_SUMS_SHOWN - shownFailed.length);
  return {
    totals: [...totals.values()],
    failed: shownFailed,
    shown,
    hiddenCount: ofOrganizations.length - shownFailed.length - shown.length,
  };
}

export function verdictOn(balance: Balance): string {
  const { sums } = balance;
  const counted = (balanced: boolean | null) => sums.filter(line => line.balanced === balanced).length;
  const [unbalanced, unknown] = [counted(false), counted(null)].map(formatWithCommas);
  const empty = sums.length - listedIn(balance).length;
  const unlisted = empty === 0 ? '' : ` ${formatWithCommas(empty)} with nothing to check are hidden.`;
  const left = `${counted(null) === 0 ? '' : ` ${unknown} cannot be checked yet.`}${unlisted}`;
  if (counted(false) > 0) return `${unbalanced} of ${formatWithCommas(sums.length)} checks failed.${left}`;
  return counted(null) === 0
    ? `All ${formatWithCommas(sums.length)} checks passed.${left}`
    : `All other checks passed.${left}`;
}

/** What left one organization may stand in another: of one alone projects and serializations say nothing. */
async function* readParts(
  { stream }: Reader,
  organizationId: string | null,
  onIdentity: (identity: Sum['identity']) => void = () => undefined,
): AsyncGenerator<Part> {
  onIdentity('retirements');
  const read = <Name extends keyof Tables & `balance_${string}`>(name: Name, order: string) =>
    stream(
      sql<Tables[Name]>`SELECT * FROM ${table(name)} WHERE ${ofOne(organizationId)} ORDER BY ${plain(order)}`,
    );
  for await (const row of read('balance_retirements', 'organization_id, reckoning, value'))
    yield {
      ...row,
      identity: 'retirements',
      sum: `by ${row.reckoning}`,
      what: `${row.reckoning} ${row.value || 'of none'}`,
      found_micro: row.amount_micro,
      expected_micro: row.counted_micro,
      why: `${row.rows} listed with ${tonnes(row.amount_micro)}, ${row.counted_rows} counted with ${tonnes(row.counted_micro)}`,
    };
  onIdentity('credits');
  for await (const row of read('balance_credits', 'place, organization_id, credit_id, part'))
    yield {
      ...row,
      identity: 'credits',
      sum: row.place,
      what: `${row.place} ${row.credit_id}`,
      rows: 1,
      found_micro: row.listed_micro,
      expected_micro: minus(row.listed_micro, row.difference_micro),
      why: `${tonnes(row.opening_micro)} at first, plus ${tonnes(row.risen_micro)}, minus ${tonnes(row.fallen_micro)}, but ${tonnes(row.listed_micro)} listed`,
    };
}

function lineOf(part: Part, name: string | null): BalanceLine {
  return {
    identity: part.identity,
    organization_name: name,
    organization_id: part.organization_id ?? null,
    what: part.what,
    type: part.type ?? null,
    rows: part.rows,
    opening_at: part.opening_at ?? null,
    opening_micro: part.opening_micro ?? null,
    risen_micro: part.risen_micro ?? null,
    fallen_micro: part.fallen_micro ?? null,
    found_micro: part.found_micro ?? null,
    expected_micro: part.expected_micro ?? null,
    difference_micro: part.difference_micro ?? null,
    balanced: part.balanced === null ? null : part.balanced === 1,
    why: part.why,
  };
}

function add(sum: Sum, line: BalanceLine): void {
  sum.rows += line.rows;
  for (const name of ADDED) sum[name] = plus(sum[name], line[name]);
  if (line.balanced !== true && sum.balanced !== false) sum.balanced = line.balanced;
}

function plus(one: Micro, other: Micro): Micro {
  return one === null || other === null ? (one ?? other) : BigInt(one) + BigInt(other);
}

function minus(one: Micro, other: Micro): Micro {
  return one === null || other === null ? one : BigInt(one) - BigInt(other);
}

function tonnes(micro: Micro): string {
  return micro === null ? 'a sum that is too large' : `${formatTonnes(BigInt(micro))} t`;
}

/** They are in no sum. */
async function countWithoutAmount(reader: Reader, organizationId: string | null): Promise<number> {
  const tables = ['retirements', 'warehouse_credits', 'inventory_credits', 'reservations'];
  const rows = tables.map(name => `SELECT organization_id FROM mirror.${name} WHERE amount_micro IS NULL`);
  return await count(reader, sql`(${plain(rows.join(' UNION ALL '))}) AS r WHERE ${ofOne(organizationId)}`);
}
