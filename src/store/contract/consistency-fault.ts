/** A law that the data breaks, and a row that breaks it. */
export interface ConsistencyFault {
  readonly law: string;
  readonly where: string;
  /** Number of further rows that this fault stands for; absent for a single row. */
  readonly count?: number;
}

/** How many faults of each law are listed singly. */
export const MAX_SHOWN_FAULTS = 5;

/** Lists the first faults of a law singly and counts the others in one. */
export function summarizeFaults(
  law: string,
  found: readonly string[],
  many = found.length,
): ConsistencyFault[] {
  const first = found.slice(0, MAX_SHOWN_FAULTS).map(where => ({ law, where }));
  const count = many - first.length;
  return count > 0 ? [...first, { law, where: `${count} more`, count }] : first;
}
