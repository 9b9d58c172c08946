import { isId, isPrintable } from '../registry/model.js';
import { parseTimeRange, type TimeRange } from '../text/time-range.js';
import { describeWrongWord, findSpelling } from '../text/vocabulary.js';
import { usageFault } from './exit.js';
import type { Io } from './io.js';

/** A word or an option, and what its text means. */
export interface Taken<T> {
  /** As in `<name>`; null for an option that is only there or not. */
  readonly shows: string | null;
  readonly says: string | ((io: Io) => string);
  readonly isNeeded?: boolean;
  readonly fallback?: string;
  /** Done unless it is said not to. */
  readonly isOn?: boolean;
  readonly choices?: readonly string[];
  readonly read: (given: unknown, io: Io) => T;
}

export type AllTaken = Readonly<Record<string, Taken<unknown>>>;
/** What was typed, each as its own kind reads it. */
export type Meant<W extends AllTaken> = { readonly [Name in keyof W]: ReturnType<W[Name]['read']> };

type Says = Taken<unknown>['says'];
type Read<T> = (text: string, io: Io) => T;
type Text<T> = Taken<T | undefined>;

/** As in `--credit-id`. */
export function optionName(key: string): string {
  return `--${key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

/** An option that is there or not. */
export function flag(says: Says): Taken<boolean> {
  return { shows: null, says, read: given => given === true };
}

/** Done unless `--no-NAME` is said. */
export function unless(says: Says): Taken<boolean> {
  return { shows: null, says, isOn: true, read: given => given !== false };
}

export function text(shows: string, says: Says): Text<string> {
  return valued(shows, says, given => given);
}

/** One or more of them. */
export function texts(shows: string, says: Says): Taken<string[] | undefined> {
  return {
    ...text(`${shows}...`, says),
    read: said => (Array.isArray(said) ? said.map(String) : undefined),
  };
}

/** A text that means something else. */
export function valued<T>(shows: string, says: Says, read: Read<T>): Text<T> {
  return { shows, says, read: (given, io) => (typeof given === 'string' ? read(given, io) : undefined) };
}

/** An id of the registry's, for a path. */
export function anId(what: string, says: Says): Text<string> {
  return valued('id', says, given => {
    const fits: boolean = isId(given);
    if (fits) return given;
    throw usageFault(`${what}: expected an id, got "${given}".`);
  });
}

/** A word of a closed set, in any spelling. */
export function choice<const Word extends string>(
  shows: string,
  says: Says,
  choices: readonly Word[],
): Text<Word> {
  const read = (given: string): Word => {
    const found = findSpelling(given, choices);
    if (found !== null) return found;
    throw usageFault(describeWrongWord(given, choices));
  };
  return { ...valued(shows, says, read), choices };
}

export function needed<T>(taken: Text<T>): Taken<T> {
  const read: Taken<T>['read'] = (given, io) => {
    const value = taken.read(given, io);
    if (value === undefined) throw new Error(`expected ${taken.shows}, got ${String(given)}`);
    return value;
  };
  return { ...taken, isNeeded: true, read };
}

export function otherwise<T>(taken: Text<T>, fallback: string): Taken<T> {
  return { ...needed(taken), isNeeded: false, fallback };
}

/** A date as a person means it, and the span that it stands for. */
export function date(says: string): Text<TimeRange> {
  return valued(
    'date',
    io => `${says} ${aDate(io)}`,
    (given, io) => readSpan(given, io.now()),
  );
}

/** A whole number from 0. */
export function count(name: string, says: Says): Text<number> {
  return valued('n', says, given => readNumber(name, given));
}

/** Zero for all. */
export function limit(most: number): Taken<number> {
  return otherwise(count('--limit', 'show at most this many; 0 for all'), String(most));
}

/** How an organization, an installation or an app may be named. */
export const HOW_NAMED = 'its id or its beginning, its name or a part of it';
const OF_ORGANIZATION = `of one organization only: ${HOW_NAMED}`;

/** One only, or all of them where none is named. */
export const ORGANIZATION = text('name', OF_ORGANIZATION);
export const THE_ORGANIZATION = needed(text('name', `the organization: ${HOW_NAMED}`));
export const YES = flag('do it without a question');
export const OLDER_COPIES = unless(
  'leave older copies in unused parts of the files, so that no writer has to wait',
);

export function readNumber(what: string, given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw usageFault(`${what}: expected a whole number, got "${given}".`);
}

/** For an id that enters no path. */
export function readPrintable(what: string, given: string): string {
  if (isPrintable(given)) return given;
  throw usageFault(`${what}: expected printable text, got ${JSON.stringify(given)}.`);
}

/** What `readSpan` takes, for the help of every command that takes one. */
function aDate({ now }: Pick<Io, 'now'>): string {
  const instant = new Date(now()).toISOString();
  return `a day, a month, a quarter or a year in UTC, an instant such as ${instant}, yesterday, 24h (so long ago) or now`;
}

/** What a person means by a date that is past. */
export function readSpan(given: string, now: number): TimeRange {
  const read = parseTimeRange(given, now);
  if ('fault' in read) throw usageFault(read.fault);
  return read;
}
