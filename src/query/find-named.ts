import type { Reader } from '../store/contract/reader.js';
import { cleanText, truncateName } from '../text/clean-text.js';
import { findSimilar } from '../text/spelling.js';
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

export interface NameSearch {
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

/**
 * Finds a row by its id or name, by the beginning of either, or by a part of its name. Accepts `…` after the beginning of an id.
 * Reports a fault if no row or several rows match.
 */
export function findByName(
  given: string,
  known: readonly NamedObject[],
  sought: NameSearch,
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
    return reportAmbiguousName(text, found, sought);
  }
  return reportMissingName(text, known, sought);
}

/** Reports that a text matches no name, and lists similar ones. */
export function reportMissingName(
  text: string,
  known: readonly NamedObject[],
  { what, where }: NameSearch,
): NameFault {
  return {
    what,
    fault: `There is no ${what} "${truncateName(text)}" ${where}.`,
    isMissing: true,
    candidates: findSimilar(text, known, textsOf).map(describeNamed),
  };
}

/** Reports that a text matches several names, and lists them. */
function reportAmbiguousName(text: string, found: readonly NamedObject[], { what }: NameSearch): NameFault {
  const more = found.length - MOST_LISTED;
  return {
    what,
    fault: `"${truncateName(text)}" matches more than one ${what}. Type more of the name, or the id.`,
    isMissing: false,
    candidates: [
      ...found.slice(0, MOST_LISTED).map(describeNamed),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
  };
}

/** Describes a row by its name and id, such as `"Harbour Ferries", ID`. */
function describeNamed({ id, name }: NamedObject): string {
  return name === null ? cleanText(id) : `"${truncateName(name)}", ${cleanText(id)}`;
}

/** Returns the id and, if there is one, the name. */
function textsOf({ id, name }: NamedObject): string[] {
  return name === null ? [id] : [id, name];
}

/** Returns a function that finds the id of an organization, installation or project from a text. */
const createFinder =
  (what: string, readAll: (reader: Reader) => Promise<readonly NamedObject[]>) =>
  async (reader: Reader, text: string) =>
    findByName(text, await readAll(reader), { what, where: 'in the mirror' });

export const findOrganization = createFinder('organization', readOrganizationNames);
export const findInstallation = createFinder('installation', reader => readNames(reader, 'installations'));
export const findProject = createFinder('project', reader => readNames(reader, 'projects'));
