import type { Reader } from '../store/contract/reader.js';
import { cleanText, truncateName } from '../text/clean-text.js';
import { findSimilar } from '../text/edit-distance.js';
import { type NamedObject, readNames, readOrganizationNames } from './names.js';

/** Why a name leads to no row: nothing is called so, or several rows are. */
export interface NameFault {
  readonly fault: string;
  readonly isMissing: boolean;
  /** The kind of row, such as `organization`. */
  readonly what: string;
  /** Similar names if none matches, otherwise the rows that match. An example is `"Harbour Ferries", ID`. */
  readonly candidates: readonly string[];
}

export interface Sought {
  /** As in `organization`. */
  readonly what: string;
  /** As in `in the mirror`. */
  readonly where: string;
}

const MOST_LISTED = 10;

type Fits = (text: string, named: NamedObject) => boolean;

/** The first of these that fits anything decides. */
const WAYS: readonly Fits[] = [
  (text, { id }) => id === text,
  (text, { name }) => name === text,
  (text, { name }) => name?.toLowerCase() === text.toLowerCase(),
  (text, each) => textsOf(each).some(known => known.toLowerCase().startsWith(text.toLowerCase())),
  (text, { name }) => name?.toLowerCase().includes(text.toLowerCase()) === true,
];

/** Finds a row by its id or name, by the beginning of either, or by a part of its name. Accepts `…` after the beginning of an id. */
export function findByName(
  given: string,
  known: readonly NamedObject[],
  sought: Sought,
): { readonly id: string } | NameFault {
  const text = given.length > 1 ? given.replace(/…$/, '') : given;
  if (text.trim() === '')
    return {
      what: sought.what,
      fault: `Expected the id or name of the ${sought.what}, got an empty text.`,
      isMissing: false,
      candidates: [],
    };
  for (const fits of WAYS) {
    const found = known.filter(named => fits(text, named));
    const [first] = found;
    if (first === undefined) continue;
    if (found.every(({ id }) => id === first.id)) return { id: first.id };
    return ambiguous(text, found, sought);
  }
  return missing(text, known, sought);
}

/** Says that nothing is called so, and what is near. */
export function missing(text: string, known: readonly NamedObject[], { what, where }: Sought): NameFault {
  return {
    what,
    fault: `There is no ${what} "${truncateName(text)}" ${where}.`,
    isMissing: true,
    candidates: findSimilar(text, known, textsOf).map(describe),
  };
}

function ambiguous(text: string, found: readonly NamedObject[], { what }: Sought): NameFault {
  const more = found.length - MOST_LISTED;
  return {
    what,
    fault: `"${truncateName(text)}" matches more than one ${what}. Type more of the name, or the id.`,
    isMissing: false,
    candidates: [...found.slice(0, MOST_LISTED).map(describe), ...(more > 0 ? [`and ${more} more`] : [])],
  };
}

function describe({ id, name }: NamedObject): string {
  return name === null ? cleanText(id) : `"${truncateName(name)}", ${cleanText(id)}`;
}

function textsOf({ id, name }: NamedObject): string[] {
  return name === null ? [id] : [id, name];
}

const finding =
  (what: string, readAll: (reader: Reader) => Promise<readonly NamedObject[]>) =>
  async (reader: Reader, text: string) =>
    findByName(text, await readAll(reader), { what, where: 'in the mirror' });

export const findOrganization = finding('organization', readOrganizationNames);
export const findInstallation = finding('installation', reader => readNames(reader, 'installations'));
export const findProject = finding('project', reader => readNames(reader, 'projects'));
