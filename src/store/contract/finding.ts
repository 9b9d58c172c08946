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
