/**
 * `slow`, `cut`, `delay` and `says` let the registry do its work first: the caller loses the answer or its truth, not what was done.
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

type FaultOption = readonly [expected: string, holds: (value: unknown) => boolean];

const PRINTABLE = /^[\x20-\x7e]*$/;

const MILLISECONDS = ['milliseconds, below 2^31', wholeNumber(0, 2 ** 31 - 1)] as const;

const FAULT_OPTIONS: Readonly<Record<keyof FaultOptions, FaultOption>> = {
  status: ['a status from 200 to 599', wholeNumber(200, 599)],
  retryAfter: ['a number or a printable text', value => typeof value === 'number' || isPrintable(value)],
  body: ['anything', () => true],
  location: ['a printable text', isPrintable],
  bytes: ['a whole number, 0 or more', wholeNumber(0, Number.MAX_SAFE_INTEGER)],
  cleanEnd: ['true or false', value => typeof value === 'boolean'],
  intervalMs: MILLISECONDS,
  delayMs: MILLISECONDS,
  rows: ['a whole number from 1 to 1000000', wholeNumber(1, 1_000_000)],
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
    else if (!rule[1](option)) faults.push(`options.${name} must be ${rule[0]}`);
  }
  return value;
}

function wholeNumber(least: number, most: number): (value: unknown) => boolean {
  return value => typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function isPrintable(value: unknown): boolean {
  return typeof value === 'string' && PRINTABLE.test(value);
}
