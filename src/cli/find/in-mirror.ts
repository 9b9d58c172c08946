import type { Reader } from '../../store/contract/reader.js';
import { readInstallationNames, readOrganizationNames } from '../../query/names.js';
import { choose, type Sought } from './choose.js';

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
