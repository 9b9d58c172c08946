import type { Response } from 'express';

/** What a fault does to the lists that a call reads. */
export interface Bend {
  /** So many of the newest rows are not there. */
  readonly hidden: number;
  /** The most rows a page holds, whatever was asked for. */
  readonly mostRows: number;
  /** Every page is the first, and says that another follows. */
  readonly loops: boolean;
}

const STRAIGHT: Bend = { hidden: 0, mostRows: Number.POSITIVE_INFINITY, loops: false };

export function bendList(res: Response, bend: Partial<Bend>): void {
  res.locals['bend'] = { ...STRAIGHT, ...bend };
}

export function bendOf(res: Response): Bend {
  const bend: Bend | undefined = res.locals['bend'];
  return bend ?? STRAIGHT;
}
