import { type Row, withThousands } from './cells.js';

const MICRO = 1_000_000n;

export interface Total {
  /** With its unit, to the last digit that could be summed. */
  readonly tonnes: string;
  readonly rows: number;
  readonly notSummed: number;
}

/** Of rows with `amount_micro`, and `rows` and `rows_not_summed` where a row stands for several. */
export function totalOf(rows: readonly Row[]): Total {
  let micro = 0n;
  let notSummed = 0;
  for (const { amount_micro: amount, rows_not_summed: left } of rows) {
    if (typeof amount === 'number' || typeof amount === 'bigint') micro += BigInt(amount);
    notSummed += Number(left ?? (isNothing(amount) ? 1 : 0));
  }
  const all = rows.reduce((sum, row) => sum + Number(row['rows'] ?? 1), 0);
  return { tonnes: `${tonnesOf(micro)} t`, rows: all, notSummed };
}

export function describeTotal({ tonnes, rows, notSummed }: Total): string {
  const left = notSummed === 0 ? '' : `, without ${notSummed} whose amount cannot be summed`;
  return `${tonnes} in ${withThousands(rows)} ${rows === 1 ? 'row' : 'rows'}${left}`;
}

function isNothing(cell: unknown): boolean {
  return cell === null || cell === undefined;
}

function tonnesOf(micro: bigint): string {
  const size = micro < 0n ? -micro : micro;
  const fraction = String(size % MICRO)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${withThousands(size / MICRO)}${fraction === '' ? '' : `.${fraction}`}`;
}
