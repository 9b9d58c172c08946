/** The result of one check of `doctor`. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  /** The result in words. */
  readonly found: string;
  /** What to do about it; null if nothing is needed. */
  readonly todo: string | null;
  /** The numbers behind `found`, for programs; absent if there are none. */
  readonly values?: Readonly<Record<string, number | null>>;
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, todo: null };
}

export function warn(check: string, found: string, todo: string): Finding {
  return { check, state: 'warn', found, todo };
}

export function fail(check: string, found: string, todo: string): Finding {
  return { check, state: 'fail', found, todo };
}

/** A violation of a data law. */
export interface ConsistencyFault {
  readonly law: string;
  /** Describes the row, such as `organization-1, retirement-7`. */
  readonly where: string;
  /** The number of rows, if the fault stands for several. */
  readonly count?: number;
}

/** How many faults of each law are listed one by one. */
export const MAX_SHOWN_FAULTS = 5;

/**
 * Returns one fault for each of the first `MAX_SHOWN_FAULTS` violations of a data law (a rule that all rows must fulfil). If there are more
 * violations, adds one fault that says how many more. `rule` is the law as a sentence, `descriptions` describe the violating rows, and
 * `total` is the number of all violating rows.
 */
export function summarizeFaults(
  rule: string,
  descriptions: readonly string[],
  total = descriptions.length,
): ConsistencyFault[] {
  const first = descriptions.slice(0, MAX_SHOWN_FAULTS).map(where => ({ law: rule, where }));
  const count = total - first.length;
  return count > 0 ? [...first, { law: rule, where: `${count} more`, count }] : first;
}
