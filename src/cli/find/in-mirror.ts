import type { Reader } from '../../store/contract/reader.js';
import { readInstalled } from '../../query/at-registry.js';
import { findInstallation, findOrganization, findProject } from '../../query/find-named.js';
import { demandFound } from './choose.js';
import { readBeginnings, readHistory, type Where } from '../../query/lists/find.js';
import type { ResourceEntry } from '../../resources/entry.js';
import type { Known } from '../../query/history/as-of.js';
import { truncateName } from '../../text/clean-text.js';
import type { Context } from '../context.js';
import { checkFault, notThereFault } from '../exit.js';
import type { Row } from '../../store/contract/tables.js';

/** The id of a row that is called by its name too. */
const finding =
  (what: string, find: typeof findOrganization) =>
  async (reader: Reader, text: string): Promise<string> =>
    demandFound(await find(reader, text), adviceOn(what));

/** Where all rows are listed that a name may mean. */
export function adviceOn(what: string): string {
  return `See "carbon-mirror ${what}s list" for all of them.`;
}

export const organizationIn = finding('organization', findOrganization);

/** An organization, and the app's installation on it. */
export async function installedOn(reader: Reader, text: string) {
  const organizationId = await organizationIn(reader, text);
  const installed = await readInstalled(reader, organizationId);
  if (installed !== null) return { ...installed, organizationId };
  throw notThereFault(
    `The mirror has found no installation on the organization ${organizationId}.`,
    '"carbon-mirror sync" alone looks for new installations.',
  );
}

/** Null where none is named: then all are meant. */
export async function organizationOrAll(reader: Reader, text: string | undefined): Promise<string | null> {
  return text === undefined ? null : await organizationIn(reader, text);
}

/** How a row may be named that is called by more than its id. */
const BY_NAME: Partial<Readonly<Record<string, typeof organizationIn>>> = {
  installations: finding('installation', findInstallation),
  organizations: organizationIn,
  projects: finding('project', findProject),
};

/** The rows that are named so: by their id, by a name, or by the beginning of the id; none where nothing is. */
export async function findNamed(
  reader: Reader,
  entry: ResourceEntry,
  text: string,
  read: (name: string) => Promise<readonly Row[]>,
  where?: Where,
): Promise<readonly Row[]> {
  const exact = await read(text);
  if (exact.length > 0) return exact;
  const ask = BY_NAME[entry.table];
  const name = await (ask === undefined ? wholeName(reader, entry, text, where) : ask(reader, text));
  return name === null ? [] : await read(name);
}

/** The whole name, from its beginning as a table shows it, with or without the sign that there is more. Null where nothing begins so. */
async function wholeName(
  reader: Reader,
  entry: ResourceEntry,
  text: string,
  where?: Where,
): Promise<string | null> {
  const beginning = text.replace(/…$/, '');
  if (beginning === '') return null;
  const [name = null, other] = await readBeginnings(reader, entry, beginning, where);
  if (other === undefined) return name;
  throw notThereFault(
    `Several rows of ${entry.table} begin with "${text}": ${name}, ${other}.`,
    'Type more of it.',
  );
}

/** Every version of what is named so, past ones too. */
export async function findVersions(
  reader: Reader,
  entry: ResourceEntry,
  id: string,
  organizationId: string | null,
): Promise<readonly Row[]> {
  const read = async (name: string) => await readHistory(reader, entry, name, organizationId);
  const from = `${entry.table}_history`;
  const versions = await findNamed(reader, entry, id, read, { from, organizationId });
  if (versions.length > 0) return versions;
  throw notThereFault(
    `There is no "${id}" in ${entry.table}, and never was.`,
    'It may not have been read yet: see "carbon-mirror status".',
  );
}

/** Those that were known at their instant. Where several were asked for, one that was not is named and left out. */
export function demandKnown<Asked extends Pick<Known, 'unknown'>>(
  { say }: Context,
  all: readonly Asked[],
  nameOf: (asked: Asked) => string,
): Asked[] {
  const known = all.filter(({ unknown }) => unknown === null);
  const lines = all.filter(({ unknown }) => unknown !== null).map(each => `${nameOf(each)}: ${each.unknown}`);
  if (known.length === 0) {
    throw checkFault(
      lines.length > 0 ? lines : 'Of no organization is this list known: it was never read.',
      'The mirror cannot tell what was there before its first complete read, nor what came after its last.',
    );
  }
  say(...lines);
  return known;
}

/** The same of organizations, and their ids. */
export function idsKnown(context: Context, all: readonly Known[], resource: string): string[] {
  const nameOf = ({ organizationId: id, name }: Known) => `${truncateName(name ?? id)}, ${resource}`;
  return demandKnown(context, all, nameOf).map(each => each.organizationId);
}
