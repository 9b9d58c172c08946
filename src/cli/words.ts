import { isId, isPrintable } from '../registry/model.js';
import { CommandFault, EXIT } from './exit.js';

export function readNumber(what: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CommandFault(EXIT.usage, `Expected the number of ${what}, got "${text}".`);
}

export function readId(what: string, text: string): string {
  const fits: boolean = isId(text);
  if (fits) return text;
  throw new CommandFault(EXIT.usage, `${what}: expected an id, got "${text}".`);
}

/** For an id that enters no path. */
export function readPrintable(what: string, text: string): string {
  if (isPrintable(text)) return text;
  throw new CommandFault(EXIT.usage, `${what}: expected printable text, got ${JSON.stringify(text)}.`);
}

const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of `500ms`, `30s`, `10m`, `2h` or `1d`; null for anything else. */
export function readLength(text: string): number | null {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|d)$/.exec(text) ?? [];
  const size = MS_PER_UNIT[unit];
  return size === undefined ? null : Math.round(Number(number) * size);
}

export function readDuration(what: string, text: string): number {
  const ms = readLength(text);
  if (ms !== null) return ms;
  throw new CommandFault(
    EXIT.usage,
    `${what}: expected a time such as 500ms, 30s, 10m, 2h or 1d, got "${text}".`,
  );
}
