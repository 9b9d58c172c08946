import type { Sqlite } from '../../open.js';
import type { Value } from '../../../../resources/columns.js';
import { LISTS } from '../../../../resources/lists.js';

interface Summed {
  readonly beneficiary: string | null;
  readonly month: string | null;
  readonly tonnes: number | bigint | null;
  readonly micro: number | bigint | null;
}

interface Delta {
  rows: number;
  notSummed: number;
  tonnes: bigint;
  micro: bigint;
}

const MILLION = 1_000_000n;

const PLACES = new Map(LISTS.retirements.columns.map(({ name }, index) => [name, index]));

/**
 * Keeps retirement_sums beside the rows: gathered over one transaction, written at its end.
 * Triggers took two and a half times as long.
 */
export interface RetirementSums {
  readonly add: (cells: readonly Value[]) => void;
  readonly subtract: (version: number) => void;
  readonly flush: (organizationId: string) => void;
  /** From the rows as they stand. */
  readonly recount: (organizationId: string) => void;
  /** Forgets what a transaction that was rolled back had gathered. */
  readonly discard: () => void;
}

export function createRetirementSums(db: Sqlite): RetirementSums {
  const find = db.prepare<[number], Summed>(
    `SELECT beneficiary, substr(created_at, 1, 7) AS month, amount_micro / 1000000 AS tonnes,
       amount_micro % 1000000 AS micro
     FROM retirements WHERE version = ?`,
  );
  const put = db.prepare<[string, string, string, number, number, bigint, bigint]>(
    `INSERT INTO retirement_sums VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET rows = rows + excluded.rows, tonnes = tonnes + excluded.tonnes,
       micro = micro + excluded.micro, rows_not_summed = rows_not_summed + excluded.rows_not_summed`,
  );
  const empty = db.prepare<[string]>('DELETE FROM retirement_sums WHERE organization_id = ?');
  const fill = db.prepare<[string]>(
    `INSERT INTO retirement_sums
     SELECT organization_id, kind, iif(kind = 'month', coalesce(substr(created_at, 1, 7), ''), coalesce(beneficiary, '')),
       count(*), count(*) - count(amount_micro),
       coalesce(sum(amount_micro / 1000000), 0), coalesce(sum(amount_micro % 1000000), 0)
     FROM retirements CROSS JOIN (SELECT 'beneficiary' AS kind UNION ALL SELECT 'month') AS kinds
     WHERE organization_id = ?
     GROUP BY 1, 2, 3`,
  );
  const deltas = new Map<string, Delta>();

  function gather(row: Summed, sign: 1 | -1): void {
    gatherOne(`beneficiary\0${row.beneficiary ?? ''}`, row, sign);
    gatherOne(`month\0${row.month ?? ''}`, row, sign);
  }

  function gatherOne(place: string, row: Summed, sign: 1 | -1): void {
    const delta = deltas.get(place) ?? { rows: 0, notSummed: 0, tonnes: 0n, micro: 0n };
    delta.rows += sign;
    if (row.tonnes === null || row.micro === null) delta.notSummed += sign;
    delta.tonnes += BigInt(sign) * BigInt(row.tonnes ?? 0);
    delta.micro += BigInt(sign) * BigInt(row.micro ?? 0);
    deltas.set(place, delta);
  }

  return {
    add: cells => {
      const micro = cellOf(cells, 'amount_micro');
      gather(
        {
          beneficiary: textOf(cellOf(cells, 'beneficiary')),
          month: textOf(cellOf(cells, 'created_at'))?.slice(0, 7) ?? null,
          tonnes: typeof micro === 'bigint' ? micro / MILLION : null,
          micro: typeof micro === 'bigint' ? micro % MILLION : null,
        },
        1,
      );
    },
    subtract: version => {
      const row = find.get(version);
      if (row !== undefined) gather(row, -1);
    },
    flush: organizationId => {
      for (const [place, { rows, notSummed, tonnes, micro }] of deltas) {
        const [kind = '', value = ''] = place.split('\0');
        put.run(organizationId, kind, value, rows, notSummed, tonnes, micro);
      }
      deltas.clear();
    },
    recount: organizationId => {
      empty.run(organizationId);
      fill.run(organizationId);
    },
    discard: () => deltas.clear(),
  };
}

function cellOf(cells: readonly Value[], name: string): Value {
  return cells[PLACES.get(name) ?? -1] ?? null;
}

function textOf(value: Value): string | null {
  return typeof value === 'string' ? value : null;
}
