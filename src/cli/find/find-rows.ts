import type { Reader } from '../../store/contract/reader.js';
import { readInstalled } from '../../query/at-registry.js';
import { findInstallation, findOrganization, findProject } from '../../query/find-named.js';
import { requireFoundId } from './name-error.js';
import { readBeginnings, readHistory, type Where } from '../../query/lists/find.js';
import type { ResourceEntry } from '../../resources/entry.js';
import type { Known } from '../../query/history/as-of.js';
import { truncateName } from '../../text/clean-text.js';
import type { CommandContext } from '../context.js';
import { createCheckError, createNotFoundError } from '../exit.js';
import type { Row } from '../../store/contract/tables.js';

/** Creates a function that returns the id of the row with this id or name, and throws if there is not exactly one. */
const createIdFinder =
  (what: string, find: typeof findOrganization) =>
  async (reader: Reader, text: string): Promise<string> =>
    requireFoundId(await find(reader, text), describeListCommand(what));

/** Advises which command lists all possible names. */
export function describeListCommand(what: string): string {
  return `List them all with "carbon-mirror ${what}s list".`;
}

export const findOrganizationId = createIdFinder('organization', findOrganization);

/** Returns the app's installation on an organization; throws if none is known. */
export async function findInstallationOfOrganization(reader: Reader, text: string) {
  const organizationId = await findOrganizationId(reader, text);
  const installed = await readInstalled(reader, organizationId);
  if (installed !== null) return { ...installed, organizationId };
  throw createNotFoundError(
    `The mirror knows no installation on the organization ${organizationId}.`,
    'Run "carbon-mirror sync" without options to look for new installations.',
  );
}

/** Returns the id of the named organization, or null, which means all, if none is named. */
export async function findOptionalOrganizationId(
  reader: Reader,
  text: string | undefined,
): Promise<string | null> {
  return text === undefined ? null : await findOrganizationId(reader, text);
}

/** Finders for resources whose rows have names besides ids. */
const FINDERS_BY_NAME: Partial<Readonly<Record<string, typeof findOrganizationId>>> = {
  installations: createIdFinder('installation', findInstallation),
  organizations: findOrganizationId,
  projects: createIdFinder('project', findProject),
};

/** Returns the rows that `read` finds for an id, a name or the start of an id. */
export async function findRowsByName(
  reader: Reader,
  entry: ResourceEntry,
  text: string,
  read: (name: string) => Promise<readonly Row[]>,
  where?: Where,
): Promise<readonly Row[]> {
  const exact = await read(text);
  if (exact.length > 0) return exact;
  const find = FINDERS_BY_NAME[entry.table];
  const name = await (find === undefined ? completeId(reader, entry, text, where) : find(reader, text));
  return name === null ? [] : await read(name);
}

/** Completes the start of an id, with or without the `…` that tables append. Returns null if no id starts so; throws if several do. */
async function completeId(
  reader: Reader,
  entry: ResourceEntry,
  text: string,
  where?: Where,
): Promise<string | null> {
  const start = text.replace(/…$/, '');
  if (start === '') return null;
  const [name = null, other] = await readBeginnings(reader, entry, start, where);
  if (other === undefined) return name;
  throw createNotFoundError(
    `Several rows of ${entry.table} start with "${text}": ${name}, ${other}.`,
    'Type more characters.',
  );
}

/** Returns all versions of a row, past ones included; throws if it never existed. */
export async function findRowVersions(
  reader: Reader,
  entry: ResourceEntry,
  id: string,
  organizationId: string | null,
): Promise<readonly Row[]> {
  const read = async (name: string) => await readHistory(reader, entry, name, organizationId);
  const from = `${entry.table}_history`;
  const versions = await findRowsByName(reader, entry, id, read, { from, organizationId });
  if (versions.length > 0) return versions;
  throw createNotFoundError(
    `No row of ${entry.table} has the id "${id}", now or in the past.`,
    'It may not have been read yet. See "carbon-mirror status".',
  );
}

/** Returns the lists that were known at their instant and prints why the others were not; throws if none was known. */
export function requireKnownLists<KnownList extends Pick<Known, 'unknown'>>(
  { printNotice }: CommandContext,
  all: readonly KnownList[],
  nameOf: (list: KnownList) => string,
): KnownList[] {
  const known = all.filter(({ unknown }) => unknown === null);
  const lines = all.filter(({ unknown }) => unknown !== null).map(each => `${nameOf(each)}: ${each.unknown}`);
  if (known.length === 0) {
    throw createCheckError(
      lines.length > 0 ? lines : 'This list has never been read for any organization.',
      'The mirror only knows a list from its first complete read until its last.',
    );
  }
  printNotice(...lines);
  return known;
}

/** Returns the ids of the organizations whose list was known at its instant; otherwise like `demandKnown`. */
export function requireKnownOrganizations(
  context: CommandContext,
  all: readonly Known[],
  resource: string,
): string[] {
  const nameOf = ({ organizationId: id, name }: Known) => `${truncateName(name ?? id)}, ${resource}`;
  return requireKnownLists(context, all, nameOf).map(each => each.organizationId);
}
