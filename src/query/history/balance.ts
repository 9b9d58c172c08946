import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { tonnesOf } from '../../text/tonnes.js';
import { count, ofOne, plain, sql, table } from '../sql.js';
import { countKnown } from '../coverage.js';
import { readOrganizationNames } from '../names.js';

/** Null where it is too large, or not said. */
type Micro = number | bigint | null;

/** What is added up of each: what stood there at first, what it was seen to rise and to fall by since, what is listed, and what it has to be (of projects at most that, as far as it is explained); what was retired and no reservation, request or fall explains; what is found beyond what is expected (of projects what is explained and was not seen to fall). */
const ADDED = [
  'opening_micro',
  'risen_micro',
  'fallen_micro',
  'found_micro',
  'expected_micro',
  'unexplained_micro',
  'difference_micro',
] as const;

/** What is added up, or a part of it that is not balanced: one side by side, as programs take it. */
export type Line = Readonly<Record<(typeof ADDED)[number], Micro>> & {
  readonly identity: 'retirements' | 'credits' | 'projects' | 'serials';
  readonly organization_name: string | null;
  readonly organization_id: string | null;
  readonly what: string;
  /** Of credits: exPost or exAnte, which are never one sum. */
  readonly type: string | null;
  readonly rows: number;
  /** When the opening stood there: its list had first been read completely. */
  readonly opening_at: string | null;
  /** Null where it is not known yet. */
  readonly balanced: boolean | null;
  /** In words, where it is not balanced. */
  readonly why: string | null;
};

/** A row of one of the four views: what it is a part of, and what is to be said of it. */
type Part = Partial<Omit<Line, 'identity' | 'balanced'>> & {
  readonly sum: string;
  readonly what: string;
  readonly rows: number;
  readonly balanced: Micro;
};

interface View {
  readonly identity: Line['identity'];
  /** What left one organization may stand in another: of one alone these two say nothing. */
  readonly isOfAll: boolean;
  readonly parts: (reader: Reader, organizationId: string | null) => AsyncIterable<Part>;
}

type Balanced = 'balance_retirements' | 'balance_credits' | 'balance_projects' | 'balance_serials';

function view<Name extends Balanced>(
  name: Name,
  order: string,
  toPart: (row: Tables[Name]) => Part,
): View['parts'] {
  return async function* parts({ stream }, organizationId) {
    const rows = sql<Tables[Name]>`SELECT * FROM ${table(name)} WHERE ${ofOne(organizationId)}
      ORDER BY ${plain(order)}`;
    for await (const row of stream(rows)) yield toPart(row);
  };
}

const VIEWS: readonly View[] = [
  {
    identity: 'retirements',
    isOfAll: false,
    parts: view('balance_retirements', 'organization_id, reckoning, value', row => ({
      sum: `by ${row.reckoning}`,
      organization_id: row.organization_id,
      what: `${row.reckoning} ${row.value || 'of none'}`,
      rows: row.rows,
      found_micro: row.amount_micro,
      expected_micro: row.counted_micro,
      difference_micro: row.difference_micro,
      balanced: row.balanced,
      why: `${row.rows} listed with ${tonnes(row.amount_micro)}, ${row.counted_rows} counted with ${tonnes(row.counted_micro)}`,
    })),
  },
  {
    identity: 'credits',
    isOfAll: false,
    parts: view('balance_credits', 'place, organization_id, credit_id, part', row => ({
      sum: row.place,
      organization_id: row.organization_id,
      what: `${row.place} ${row.credit_id}`,
      type: row.type,
      rows: 1,
      opening_at: row.opening_at,
      opening_micro: row.opening_micro,
      risen_micro: row.risen_micro,
      fallen_micro: row.fallen_micro,
      found_micro: row.listed_micro,
      expected_micro: minus(row.listed_micro, row.difference_micro),
      difference_micro: row.difference_micro,
      balanced: row.balanced,
      why: `${tonnes(row.opening_micro)}, seen to rise by ${tonnes(row.risen_micro)} and to fall by ${tonnes(row.fallen_micro)}, and listed with ${tonnes(row.listed_micro)}`,
    })),
  },
  {
    identity: 'projects',
    isOfAll: true,
    parts: view('balance_projects', 'project_id, vintage', row => {
      const what = `${row.project_name ?? row.project_id} ${row.vintage}`;
      const fell = plus(row.fall_micro, row.risen_micro);
      return {
        sum: what,
        what,
        rows: row.retirements,
        opening_at: row.begun_at,
        opening_micro: row.opening_micro,
        risen_micro: row.risen_micro,
        fallen_micro: row.fallen_micro,
        found_micro: row.retired_micro,
        expected_micro: fell,
        unexplained_micro: row.unexplained_micro,
        difference_micro: row.difference_micro,
        balanced: row.balanced,
        why: `${tonnes(row.explained_micro)} retired by reservations and requests, and seen to fall by ${tonnes(fell)} in all${row.balanced === null ? '; a list was not read since the last rise' : ''}`,
      };
    }),
  },
  {
    identity: 'serials',
    isOfAll: true,
    parts: view('balance_serials', 'serialization', row => ({
      sum: 'serializations that stand for one credit each',
      what: row.serialization,
      rows: 1,
      balanced: row.balanced,
      why: `stands for ${row.credit_id} and for ${row.other_credit_id}`,
    })),
  },
];

/** In the order in which programs take them. */
const NOTHING: Omit<Line, 'identity'> = {
  organization_name: null,
  organization_id: null,
  what: '',
  type: null,
  rows: 0,
  opening_at: null,
  opening_micro: null,
  risen_micro: null,
  fallen_micro: null,
  found_micro: null,
  expected_micro: null,
  unexplained_micro: null,
  difference_micro: null,
  balanced: null,
  why: null,
};
export const BALANCE_COLUMNS = ['identity', ...Object.keys(NOTHING)];

/** What was added up, and each part of it that is not balanced: two that are wrong may hide in a sum. */
export async function readBalance(reader: Reader, organizationId: string | null) {
  const names = new Map((await readOrganizationNames(reader)).map(({ id, name }) => [id, name]));
  const sums = new Map<string, Sum>();
  const notBalanced: Line[] = [];
  for (const { identity, isOfAll, parts } of VIEWS) {
    if (isOfAll && organizationId !== null) continue;
    for await (const { sum: name, ...part } of parts(reader, organizationId)) {
      const organization_name = names.get(part.organization_id ?? '') ?? null;
      const balanced = part.balanced === null ? null : part.balanced === 1;
      const line: Line = { identity, ...NOTHING, ...part, organization_name, balanced };
      const key = JSON.stringify([identity, line.organization_id, name, line.type]);
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { ...line, what: name, why: null });
      else add(sum, line);
      if (balanced !== true) notBalanced.push(line);
    }
  }
  const isKnown = [...sums.values()].some(
    ({ rows, opening_micro: opening }) => rows > 0 || (opening ?? 0) > 0,
  );
  return {
    known: await countKnown(reader),
    balanced: isKnown ? notBalanced.every(line => line.balanced === null) : null,
    rowsWithoutAmount: await countWithoutAmount(reader, organizationId),
    sums: [...sums.values()],
    notBalanced,
  };
}

type Sum = { -readonly [Name in keyof Line]: Line[Name] };

function add(sum: Sum, line: Line): void {
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
  return micro === null ? 'more t than can be added' : `${tonnesOf(BigInt(micro))} t`;
}

/** They are in no sum. */
async function countWithoutAmount(reader: Reader, organizationId: string | null): Promise<number> {
  const tables = ['retirements', 'warehouse_credits', 'inventory_credits', 'reservations'];
  const rows = tables.map(name => `SELECT organization_id FROM mirror.${name} WHERE amount_micro IS NULL`);
  return await count(reader, sql`(${plain(rows.join(' UNION ALL '))}) AS r WHERE ${ofOne(organizationId)}`);
}
