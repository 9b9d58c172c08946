import { distance } from '../../text/distance.js';
import { cleanText, shortName } from '../../text/clean.js';
import { CommandFault, notThereFault, usageFault } from '../exit.js';

/** What people call by its id or its name. */
export interface Named {
  readonly id: string;
  readonly name: string | null;
}

export interface Sought {
  /** As in `organization`. */
  readonly what: string;
  /** As in `in the mirror`. */
  readonly where: string;
  /** Where all of them are listed. */
  readonly advice: string;
}

const MOST_NEAR = 5;
const MOST_LISTED = 10;
const WORD = /[\p{L}\p{N}]{3,}/gu;

type Fits = (text: string, named: Named) => boolean;

/** The first of these that fits anything decides. */
const WAYS: readonly Fits[] = [
  (text, { id }) => id === text,
  (text, { name }) => name === text,
  (text, { name }) => name?.toLowerCase() === text.toLowerCase(),
  (text, each) => wordings(each).some(wording => wording.startsWith(text.toLowerCase())),
  (text, { name }) => name?.toLowerCase().includes(text.toLowerCase()) === true,
];

/** The id of what is named by its id, its name, the beginning of either or a part of its name that no other one has. */
export function choose(text: string, known: readonly Named[], sought: Sought): string {
  if (text.trim() === '') {
    throw usageFault(`Expected the id or name of the ${sought.what}, got an empty text.`);
  }
  for (const fits of WAYS) {
    const found = known.filter(named => fits(text, named));
    const [first] = found;
    if (first === undefined) continue;
    if (found.every(({ id }) => id === first.id)) return first.id;
    throw ambiguous(text, found, sought);
  }
  throw notThere(text, known, sought);
}

function ambiguous(text: string, found: readonly Named[], { what }: Sought): CommandFault {
  const more = found.length - MOST_LISTED;
  return usageFault(`"${shortName(text)}" fits more than one ${what}: type more of it, or its id.`, [
    ...found.slice(0, MOST_LISTED).map(describe),
    ...(more > 0 ? [`and ${more} more`] : []),
  ]);
}

export function notThere(text: string, known: readonly Named[], sought: Sought): CommandFault {
  const near = findNear(text, known).map(describe);
  return notThereFault(`There is no ${sought.what} "${shortName(text)}" ${sought.where}.`, [
    ...(near.length === 0 ? [] : ['Near:', ...near]),
    sought.advice,
  ]);
}

function describe({ id, name }: Named): string {
  return name === null ? `  ${cleanText(id)}` : `  "${shortName(name)}", ${cleanText(id)}`;
}

function wordings({ id, name }: Named): string[] {
  return [id, ...(name === null ? [] : [name])].map(wording => wording.toLowerCase());
}

/** Mistyped by a letter in four, or with a word in common that is mistyped by a letter in four at most; the nearest first. */
function findNear(text: string, known: readonly Named[]): Named[] {
  const wanted = text.toLowerCase();
  const words = [wanted, ...(wanted.match(WORD) ?? [])];
  const isClose = (wording: string) =>
    [wording, ...(wording.match(WORD) ?? [])].some(word => words.some(each => isNear(each, word)));
  const far = (named: Named) => Math.min(...wordings(named).map(wording => distance(wanted, wording)));
  return known
    .filter(named => wordings(named).some(isClose))
    .toSorted((one, other) => far(one) - far(other))
    .slice(0, MOST_NEAR);
}

function isNear(one: string, other: string): boolean {
  const letters = Math.floor(Math.min(one.length, other.length) / 4);
  return Math.abs(one.length - other.length) <= letters && distance(one, other) <= letters;
}
