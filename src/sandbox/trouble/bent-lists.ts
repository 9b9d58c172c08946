import type { NextFunction, Request, Response } from 'express';

/** What a fault does to the lists that a call reads. */
export interface Bend {
  /** So many of the newest rows are not there. */
  readonly hidden: number;
  /** The most rows a page holds, whatever was asked for. */
  readonly mostRows: number;
  /** Every page is the first, and says that another follows. */
  readonly loops: boolean;
}

export const STRAIGHT: Bend = { hidden: 0, mostRows: Number.POSITIVE_INFINITY, loops: false };

export interface BendOrder {
  readonly kind: 'pageLoop' | 'pageSize' | 'rowsAppear' | 'rowsDisappear';
  readonly rows: number | undefined;
  readonly hits: number;
}

interface Exchange {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
}

/** Rows that come late are hidden at first, one call's worth fewer each time, until all are there. */
const LATE_CALLS = 5;

export function bendList({ kind, rows = 1, hits }: BendOrder, { res }: Exchange): void {
  res.locals['bend'] = toBend(kind, rows, hits);
}

function toBend(kind: BendOrder['kind'], rows: number, hits: number): Bend {
  if (kind === 'pageLoop') return { ...STRAIGHT, loops: true };
  if (kind === 'pageSize') return { ...STRAIGHT, mostRows: rows };
  if (kind === 'rowsDisappear') return { ...STRAIGHT, hidden: rows * hits };
  return { ...STRAIGHT, hidden: rows * Math.max(0, LATE_CALLS - hits) };
}

export function bendOf(res: Response): Bend {
  const bend: Bend | undefined = res.locals['bend'];
  return bend ?? STRAIGHT;
}
