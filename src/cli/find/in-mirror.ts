import type { Reader } from '../../store/contract/reader.js';
import { readInstallationNames, readOrganizationNames } from '../../query/names.js';
import { choose, type Sought } from './choose.js';
import { type Beginning, readBeginnings, readHistory } from '../../query/lists/find.js';
import type { Entry } from '../../resources/entry.js';
import { notThereFault, usageFault } from '../exit.js';
import type { Row } from '../../store/contract/tables.js';
import { ENTRIES, findEntry } from '../../resources/resources.js';

const ORGANIZATION: Sought = {
  what: 'organization',
  where: 'in the mirror',
  advice: 'See "carbon-mirror organizations list" for all of them.',
};

const INSTALLATION: Sought = {
  what: 'installation',
  where: 'in the mirror',
  advice: 'See "carbon-mirror installations list" for all of them.',
};

export async function organizationIn(reader: Reader, text: string): Promise<string> {
  return choose(text, await readOrganizationNames(reader), ORGANIZATION);
}

export async function installationIn(reader: Reader, text: string): Promise<string> {
  return choose(text, await readInstallationNames(reader), INSTALLATION);
}

/** Null where none is named: then all are meant. */
export async function organizationOrAll(reader: Reader, text: string | undefined): Promise<string | null> {
  return text === undefined ? null : await organizationIn(reader, text);
}

/** How a row may be named that is called by more than its id. */
export const BY_NAME: Partial<Readonly<Record<string, typeof organizationIn>>> = {
  installations: installationIn,
  organizations: organizationIn,
};

/** The whole name, from its beginning as a table shows it, with or without the sign that there is more. Null where nothing begins so. */
export async function wholeName(
  reader: Reader,
  entry: Entry,
  text: string,
  where?: Beginning,
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

export function demandEntry(table: string): Entry {
  const entry = findEntry(table);
  if (entry !== undefined) return entry;
  throw usageFault(
    `There is no history of "${table}".`,
    `Expected one of ${ENTRIES.map(known => known.table).join(', ')}.`,
  );
}

export async function findVersions(reader: Reader, entry: Entry, id: string): Promise<readonly Row[]> {
  const versions = await readHistory(reader, entry, id);
  if (versions.length > 0) return versions;
  const found =
    (await BY_NAME[entry.table]?.(reader, id)) ??
    (await wholeName(reader, entry, id, { from: `${entry.table}_history` }));
  if (found !== null) return await readHistory(reader, entry, found);
  throw notThereFault(`No version of "${id}" was ever in ${entry.table}.`);
}
