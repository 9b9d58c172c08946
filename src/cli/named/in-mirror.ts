import type { Reader } from '../../engines/contract/reader.js';
import { hasDeliveries, hasJobs } from '../../query/inbox/deliveries-and-jobs.js';
import { readInstallationNames, readOrganizationNames } from '../../query/names.js';
import { choose, type Sought } from './named.js';

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

/** Jobs stay after their organization was purged. */
export async function organizationOfJobs(reader: Reader, text: string | undefined): Promise<string | null> {
  if (text === undefined || (await hasJobs(reader, text))) return text ?? null;
  return await organizationIn(reader, text);
}

/** A delivery may be for an installation that nobody has read yet. */
export async function installationOfDeliveries(
  reader: Reader,
  text: string | undefined,
): Promise<string | null> {
  if (text === undefined || (await hasDeliveries(reader, text))) return text ?? null;
  return await installationIn(reader, text);
}
