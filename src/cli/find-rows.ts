/**
 * Finds rows of the mirror by what a person typed: an id, the start of an id, or a part of a name.
 *
 * Each function returns exactly what was meant, or throws an error that lists similar names or says what to type.
 */
import { type NameFault, findInstallation, findOrganization, findProject } from '../query/names.js';
import { type CommandError, createNotFoundError, createUsageError } from './command-error.js';
import type { Reader } from '../store/contract/reader.js';
import { readNewestInstallation } from '../query/at-registry.js';
import { findIdsByStart, readVersionsById, type IdSearchScope } from '../query/lists/find-by-id.js';
import type { ResourceEntry } from '../resources/entry.js';
import type { Row } from '../store/contract/tables.js';

/** Returns the id from the result of a search by name. Throws an error with `advice` if the name was unknown or ambiguous. */
export function requireFoundId(result: { readonly id: string } | NameFault, advice: string): string {
  if ('id' in result) return result.id;
  throw createNameError(result, advice);
}

/** Creates the error for an unknown or ambiguous name. The error lists similar names. */
export function createNameError({ fault, isMissing, candidates }: NameFault, advice: string): CommandError {
  const lines = candidates.map(candidate => `  ${candidate}`);
  if (!isMissing) return createUsageError(fault, lines);
  return createNotFoundError(fault, [...(lines.length === 0 ? [] : ['Did you mean:', ...lines]), advice]);
}

/** Creates a function that finds an id by a name or an id. It throws unless exactly one row matches. */
const createIdFinder =
  (singular: string, find: typeof findOrganization) =>
  async (reader: Reader, nameOrId: string): Promise<string> =>
    requireFoundId(await find(reader, nameOrId), describeListCommand(singular));

/** Returns advice such as `List them all with "carbon-mirror organizations list".` */
export function describeListCommand(singular: string): string {
  return `List them all with "carbon-mirror ${singular}s list".`;
}

/** Returns the id of the organization with this name or id; throws unless exactly one matches. */
export const findOrganizationId = createIdFinder('organization', findOrganization);

/**
 * Finds the organization with this name or id. Returns the app's newest installation on the organization, preferably an active one. Throws
 * if there is no such organization or installation.
 */
export async function findInstallationOfOrganization(reader: Reader, nameOrId: string) {
  const organizationId = await findOrganizationId(reader, nameOrId);
  const installed = await readNewestInstallation(reader, organizationId);
  if (installed !== null) return { ...installed, organizationId };
  throw createNotFoundError(
    `The mirror knows no installation on the organization ${organizationId}.`,
    'Run "carbon-mirror sync" without options to look for new installations.',
  );
}

/**
 * Returns the id of the organization with this name or id. Returns null if no name is given, which means all
 * organizations.
 */
export async function findOptionalOrganizationId(
  reader: Reader,
  nameOrId: string | undefined,
): Promise<string | null> {
  return nameOrId === undefined ? null : await findOrganizationId(reader, nameOrId);
}

/** Functions that find rows by name, for the tables whose rows have names besides ids. */
const FINDERS_BY_NAME: Partial<Readonly<Record<string, typeof findOrganizationId>>> = {
  installations: createIdFinder('installation', findInstallation),
  organizations: findOrganizationId,
  projects: createIdFinder('project', findProject),
};

/** Finds rows by an id, the start of an id or, in tables with names, a name. */
export async function findRowsByName(
  reader: Reader,
  entry: ResourceEntry,
  idOrName: string,
  readRows: (id: string) => Promise<readonly Row[]>,
  searchScope?: IdSearchScope,
): Promise<readonly Row[]> {
  const exactMatches = await readRows(idOrName);
  if (exactMatches.length > 0) return exactMatches;
  const findId = FINDERS_BY_NAME[entry.table];
  const id =
    findId === undefined
      ? await completeId(reader, entry, idOrName, searchScope)
      : await findId(reader, idOrName);
  return id === null ? [] : await readRows(id);
}

/** Completes the start of an id, such as `7f3a`. Returns null if no id matches. Throws if several match. */
async function completeId(
  reader: Reader,
  entry: ResourceEntry,
  text: string,
  searchScope?: IdSearchScope,
): Promise<string | null> {
  const start = text.replace(/…$/, '');
  if (start === '') return null;
  const [id = null, anotherId] = await findIdsByStart(reader, entry, start, searchScope);
  if (anotherId === undefined) return id;
  throw createNotFoundError(
    `Several rows of ${entry.table} start with "${text}": ${id}, ${anotherId}.`,
    'Type more characters.',
  );
}

/**
 * Returns all versions of the row with this id or name. Searches all organizations if `organizationId` is null. Throws if there is no such
 * row, now or in the past.
 */
export async function findRowVersions(
  reader: Reader,
  entry: ResourceEntry,
  idOrName: string,
  organizationId: string | null,
): Promise<readonly Row[]> {
  const readVersions = async (id: string) => await readVersionsById(reader, entry, id, organizationId);
  const from = `${entry.table}_history`;
  const versions = await findRowsByName(reader, entry, idOrName, readVersions, { from, organizationId });
  if (versions.length > 0) return versions;
  throw createNotFoundError(
    `No row of ${entry.table} has the id "${idOrName}", now or in the past.`,
    'It may not have been read yet. See "carbon-mirror status".',
  );
}
