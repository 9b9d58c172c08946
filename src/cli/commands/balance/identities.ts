import type { Reader } from '../../../engines/contract/reader.js';
import { readLastReadBefore } from '../../../query/past/as-of.js';
import {
  countNotSummed,
  readJudged,
  readMoves,
  readOpenings,
  readProjectBalances,
  readReckonings,
  readSerialBalances,
  readStockAt,
  readTakenOut,
  STOCK_LISTS,
} from '../../../query/past/balance.js';
import { addCredits } from './credits.js';
import type { Line, Part } from './line.js';
import { addProjects, addSerials, projectLine } from './projects.js';
import { addRetirements } from './retirements.js';

export interface Asked {
  readonly organizationId: string | null;
  readonly year: string | null;
  /** Null from the first read on. */
  readonly from: string | null;
  readonly to: string;
  /** Up to this moment: then what is kept beside the rows is looked at, too. */
  readonly isNow: boolean;
}

/** The four identities, as far as they can be told of the period. */
export async function balanceOf(reader: Reader, asked: Asked): Promise<Part> {
  const parts = [
    ...(asked.isNow || asked.year !== null
      ? [
          {
            ...(await addRetirements(readReckonings(reader, asked), asked.year)),
            notSummed: await countNotSummed(reader, asked),
          },
        ]
      : []),
    await balanceCredits(reader, asked),
    ...(asked.organizationId === null ? [partOf(await balanceProjects(reader, asked))] : []),
    ...(asked.isNow && asked.organizationId === null ? [addSerials(await readSerialBalances(reader))] : []),
  ];
  return {
    sums: parts.flatMap(({ sums }) => sums),
    loose: parts.flatMap(({ loose }) => loose),
    notSummed: parts.reduce((all, { notSummed = 0 }) => all + notSummed, 0),
  };
}

async function balanceCredits(reader: Reader, asked: Asked): Promise<Part> {
  const { from, to } = asked;
  const openings = await readOpenings(reader);
  return await addCredits({
    opening: readStockAt(reader, asked, from),
    moves: readMoves(reader, asked),
    closing: readStockAt(reader, asked, to),
    openedAt: ({ place, organization_id: id }) => {
      const at = openings.get(`${place === 'held' ? 'reservations' : place} ${id}`) ?? null;
      return at === null || from === null || at > from ? at : from;
    },
  });
}

/** What left one organization may stand in another: all of them together. */
async function balanceProjects(reader: Reader, asked: Asked): Promise<Line[]> {
  if (asked.isNow) return (await readProjectBalances(reader)).map(projectLine);
  const judged = await readJudged(reader);
  const known = judged
    .map(({ since }) => since)
    .toSorted()
    .at(-1);
  const { to } = asked;
  if (known === undefined || known >= to) return [];
  const from = asked.from === null || asked.from < known ? known : asked.from;
  const period = { organizationId: null, from, to };
  const settledAt = await readSettled(
    reader,
    judged.map(each => each.organization_id),
    to,
  );
  return await addProjects({
    from,
    to,
    settledAt,
    opening: readStockAt(reader, period, from),
    moves: readMoves(reader, period),
    closing: readStockAt(reader, period, to),
    retired: readTakenOut(reader, 'retirements', from, settledAt < to ? settledAt : to),
    used: readTakenOut(reader, 'credit_uses', from, settledAt < to ? settledAt : to),
  });
}

async function readSettled(reader: Reader, organizations: readonly string[], at: string): Promise<string> {
  let settled = at;
  for (const organizationId of organizations) {
    for (const resource of STOCK_LISTS) {
      const read = (await readLastReadBefore(reader, { organizationId, resource, at })) ?? '';
      if (read < settled) settled = read;
    }
  }
  return settled;
}

function partOf(lines: readonly Line[]): Part {
  return { sums: lines, loose: lines.filter(({ ties }) => ties !== 1) };
}
