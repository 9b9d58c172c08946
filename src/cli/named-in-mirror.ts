import type { Sqlite } from '../engines/sqlite/open.js';
import { hasDeliveries, hasJobs } from '../query/inbox.js';
import { readInstallationNames, readOrganizationNames } from '../query/names.js';
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

export function organizationIn(db: Sqlite, text: string): string {
  return choose(text, readOrganizationNames(db), ORGANIZATION);
}

export function installationIn(db: Sqlite, text: string): string {
  return choose(text, readInstallationNames(db), INSTALLATION);
}

/** Null where none is named: then all are meant. */
export function organizationOrAll(db: Sqlite, text: string | undefined): string | null {
  return text === undefined ? null : organizationIn(db, text);
}

/** Jobs stay after their organization was purged. */
export function organizationOfJobs(db: Sqlite, text: string | undefined): string | null {
  if (text === undefined || hasJobs(db, text)) return text ?? null;
  return organizationIn(db, text);
}

/** A delivery may be for an installation that nobody has read yet. */
export function installationOfDeliveries(db: Sqlite, text: string | undefined): string | null {
  if (text === undefined || hasDeliveries(db, text)) return text ?? null;
  return installationIn(db, text);
}
