/**
 * `slow`, `cut`, `delay` and `says` let the registry do its work first: the caller loses the answer or its truth, not the deed.
 * `hangup`, `silence`, `status`, `html`, `redirect`, `wrongShape` and `endless` do nothing else,
 * nor does `pageLimit` where more rows are asked for than it allows.
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
  'says',
  'pageLoop',
  'pageSize',
  'pageLimit',
  'rowsAppear',
  'rowsDisappear',
  'clock',
] as const;
export type CallFault = (typeof CALL_FAULTS)[number];

/** These meet what a finished reservation or an accepted request sets going, not the call itself. */
export const TRANSACTION_FAULTS = ['transactionFails', 'transactionQueues'] as const;

export const FAULT_KINDS = [...CALL_FAULTS, ...TRANSACTION_FAULTS] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** What a fault may be told; each kind reads its own part. */
export interface FaultOptions {
  readonly status?: number;
  readonly retryAfter?: string | number;
  readonly body?: unknown;
  readonly location?: string;
  readonly bytes?: number;
  /** `cut`: ends as if that were all, with a Content-Length that fits. */
  readonly cleanEnd?: boolean;
  readonly intervalMs?: number;
  readonly delayMs?: number;
  /** `rowsAppear`, `rowsDisappear`: so many rows a call. `pageSize`, `pageLimit`: the most rows a page holds. */
  readonly rows?: number;
}

export interface FaultRow {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly kind: FaultKind;
  readonly options: FaultOptions;
  /** How many more calls it meets; null for every call until it is removed. */
  readonly remaining: number | null;
  readonly hits: number;
  readonly isRemoved: boolean;
}

interface FaultOption {
  readonly flags: string;
  readonly what: string;
  readonly kind: 'text' | 'number' | 'duration' | 'json' | 'yes or no';
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

const PRINTABLE = /^[\x20-\x7e]*$/;

export const FAULT_OPTIONS: Readonly<Record<keyof FaultOptions, FaultOption>> = {
  status: {
    flags: '--status <n>',
    what: 'of status, html, redirect, wrongShape, pageLimit',
    kind: 'number',
    expected: 'a status from 200 to 599',
    holds: wholeNumber(200, 599),
  },
  retryAfter: {
    flags: '--retry-after <text>',
    what: 'of status: seconds or a date',
    kind: 'text',
    expected: 'a number or a printable text',
    holds: value => typeof value === 'number' || isPrintable(value),
  },
  body: {
    flags: '--body <json>',
    what: 'of status, wrongShape and pageLimit; of says: by id, what is said of it',
    kind: 'json',
    expected: 'anything',
    holds: () => true,
  },
  location: {
    flags: '--location <url>',
    what: 'of redirect',
    kind: 'text',
    expected: 'a printable text',
    holds: isPrintable,
  },
  bytes: {
    flags: '--bytes <n>',
    what: 'of cut: how much still comes',
    kind: 'number',
    expected: 'a whole number, 0 or more',
    holds: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  },
  cleanEnd: {
    flags: '--clean-end <yes|no>',
    what: 'of cut: looks whole',
    kind: 'yes or no',
    expected: 'true or false',
    holds: value => typeof value === 'boolean',
  },
  intervalMs: { ...milliseconds('--interval <time>'), what: 'of slow: between bytes' },
  delayMs: { ...milliseconds('--delay <time>'), what: 'of delay' },
  rows: {
    flags: '--rows <n>',
    what: 'of pageSize, pageLimit, rowsAppear, rowsDisappear',
    kind: 'number',
    expected: 'a whole number from 1 to 1000000',
    holds: wholeNumber(1, 1_000_000),
  },
};

/** Refuses what could not be carried out later, in the middle of somebody's call. */
export function readFaultOptions(value: unknown, faults: string[]): FaultOptions {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.push('options must be an object');
    return {};
  }
  const known = new Map<string, FaultOption>(Object.entries(FAULT_OPTIONS));
  for (const [name, option] of Object.entries(value)) {
    const rule = known.get(name);
    if (rule === undefined)
      faults.push(`options.${name} is unknown: there are ${[...known.keys()].join(', ')}`);
    else if (!rule.holds(option)) faults.push(`options.${name} must be ${rule.expected}`);
  }
  return value;
}

function milliseconds(flags: string): Omit<FaultOption, 'what'> {
  return {
    flags,
    kind: 'duration',
    expected: 'milliseconds, below 2^31',
    holds: wholeNumber(0, 2 ** 31 - 1),
  };
}

function wholeNumber(least: number, most: number): (value: unknown) => boolean {
  return value => typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function isPrintable(value: unknown): boolean {
  return typeof value === 'string' && PRINTABLE.test(value);
}
