interface Rule {
  readonly holds: (value: unknown) => boolean;
  readonly expected: string;
}

const COUNT: Rule = {
  holds: value => isWhole(value, 0, Number.MAX_SAFE_INTEGER),
  expected: 'a whole number, 0 or more',
};
const MILLISECONDS: Rule = {
  holds: value => isWhole(value, 0, 2 ** 31 - 1),
  expected: 'milliseconds, below 2^31',
};
const PRINTABLE = /^[\x20-\x7e]*$/;

const RULES: ReadonlyMap<string, Rule> = new Map([
  ['status', { holds: value => isWhole(value, 200, 599), expected: 'a status from 200 to 599' }],
  ['retryAfter', { holds: isHeaderValue, expected: 'a number or a printable text' }],
  [
    'location',
    { holds: value => typeof value === 'string' && PRINTABLE.test(value), expected: 'a printable text' },
  ],
  ['body', { holds: () => true, expected: 'anything' }],
  ['cleanEnd', { holds: value => typeof value === 'boolean', expected: 'true or false' }],
  ['bytes', COUNT],
  ['intervalMs', MILLISECONDS],
  ['delayMs', MILLISECONDS],
  ['rows', { holds: value => isWhole(value, 1, 1_000_000), expected: 'a whole number from 1 to 1000000' }],
]);

/** Refuses what could not be carried out later, in the middle of somebody's call. */
export function readFaultOptions(value: unknown, faults: string[]): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.push('options must be an object');
    return {};
  }
  for (const [name, option] of Object.entries(value)) {
    const rule = RULES.get(name);
    if (rule === undefined)
      faults.push(`options.${name} is unknown: there are ${[...RULES.keys()].join(', ')}`);
    else if (!rule.holds(option)) faults.push(`options.${name} must be ${rule.expected}`);
  }
  return value;
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function isHeaderValue(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && PRINTABLE.test(value));
}
