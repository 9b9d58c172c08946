/**
 * Faults of calls. With `slow`, `cut`, `delay` and `overrideObjects` the registry carries out the call and only the answer is distorted.
 * With `hangup`, `silence`, `status`, `html`, `redirect`, `wrongShape` and `endless` it does not carry out the call, nor
 * with `pageLimit` if more rows are requested than it allows.
 */
export const CALL_FAULTS = [
  'status',
  'silence',
  'hangup',
  'endless',
  'html',
  'redirect',
  'wrongShape',
  'slow',
  'delay',
  'cut',
  'overrideObjects',
  'pageLoop',
  'pageSize',
  'pageLimit',
  'rowsAppear',
  'rowsDisappear',
  'clock',
] as const;
export type CallFault = (typeof CALL_FAULTS)[number];

/** Faults of the transaction that a finished reservation or an accepted request starts. The call itself succeeds. */
export const TRANSACTION_FAULTS = ['transactionFails', 'transactionQueues'] as const;

export const FAULT_KINDS = [...CALL_FAULTS, ...TRANSACTION_FAULTS] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** The options of all kinds of faults. Each kind uses some of them. */
export interface FaultOptions {
  readonly status?: number;
  readonly retryAfter?: string | number;
  readonly body?: unknown;
  readonly location?: string;
  readonly bytes?: number;
  /** For `cut`: sends the Content-Length of the shortened response, so that it looks complete. */
  readonly cleanEnd?: boolean;
  readonly intervalMs?: number;
  readonly delayMs?: number;
  /**
   * For `rowsAppear` and `rowsDisappear`: the number of rows per call. For `pageSize` and `pageLimit`: the maximum
   * number of rows on a page.
   */
  readonly rows?: number;
}

/** A fault, with the number of requests that it was applied to. */
export interface FaultRecord {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly kind: FaultKind;
  readonly options: FaultOptions;
  /** The number of further requests that the fault applies to. Null means no limit. */
  readonly remaining: number | null;
  /** How many calls the fault was applied to. */
  readonly hits: number;
  readonly isRemoved: boolean;
}

/** The validation rule of a fault option. */
interface OptionRule {
  /** Describes a valid value in error messages. */
  readonly expected: string;
  readonly isValid: (value: unknown) => boolean;
}

const PRINTABLE = /^[\x20-\x7e]*$/;

const MILLISECONDS: OptionRule = {
  expected: 'milliseconds, below 2^31',
  isValid: createWholeNumberCheck(0, 2 ** 31 - 1),
};

const OPTION_RULES: Readonly<Record<keyof FaultOptions, OptionRule>> = {
  status: { expected: 'a status from 200 to 599', isValid: createWholeNumberCheck(200, 599) },
  retryAfter: {
    expected: 'a number or a printable text',
    isValid: value => typeof value === 'number' || isPrintable(value),
  },
  body: { expected: 'anything', isValid: () => true },
  location: { expected: 'a printable text', isValid: isPrintable },
  bytes: {
    expected: 'a whole number, 0 or more',
    isValid: createWholeNumberCheck(0, Number.MAX_SAFE_INTEGER),
  },
  cleanEnd: { expected: 'true or false', isValid: value => typeof value === 'boolean' },
  intervalMs: MILLISECONDS,
  delayMs: MILLISECONDS,
  rows: { expected: 'a whole number from 1 to 1000000', isValid: createWholeNumberCheck(1, 1_000_000) },
};

/** Validates the options of a simulated fault. Adds an error message to `problems` for each invalid option. */
export function readFaultOptions(value: unknown, problems: string[]): FaultOptions {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push('options must be an object');
    return {};
  }
  const rules = new Map<string, OptionRule>(Object.entries(OPTION_RULES));
  for (const [name, option] of Object.entries(value)) {
    const rule = rules.get(name);
    if (rule === undefined)
      problems.push(`options.${name} is unknown: the options are ${[...rules.keys()].join(', ')}`);
    else if (!rule.isValid(option)) problems.push(`options.${name} must be ${rule.expected}`);
  }
  return value;
}

/** Creates a function that checks whether a value is an integer from `min` to `max`. */
function createWholeNumberCheck(min: number, max: number): (value: unknown) => boolean {
  return value => typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

/** Returns whether a value is a string of printable ASCII characters. */
function isPrintable(value: unknown): boolean {
  return typeof value === 'string' && PRINTABLE.test(value);
}
