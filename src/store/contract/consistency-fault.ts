/** A law that does not hold, and where. */
export interface ConsistencyFault {
  readonly law: string;
  readonly where: string;
  /** How many more there are, where so many are told in one. */
  readonly count?: number;
}

/** Of each law. */
export const MAX_SHOWN_FAULTS = 5;

/** The first few by themselves, and all the others as one. */
export function summarizeFaults(
  law: string,
  found: readonly string[],
  many = found.length,
): ConsistencyFault[] {
  const first = found.slice(0, MAX_SHOWN_FAULTS).map(where => ({ law, where }));
  const count = many - first.length;
  return count > 0 ? [...first, { law, where: `${count} more`, count }] : first;
}
