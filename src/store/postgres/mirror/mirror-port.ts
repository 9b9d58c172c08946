import type { MirrorPort } from '../../../mirror/port.js';
import { createMirrorStore } from '../../mirror/mirror-store.js';
import { databaseIn } from '../database.js';
import type { Postgres } from '../open-postgres.js';
import { CERTIFICATE_FILES } from './certificate-table.js';

/** The mirror in a PostgreSQL that has been migrated. */
export function createMirrorPort(postgres: Postgres): MirrorPort {
  return createMirrorStore(databaseIn(postgres), CERTIFICATE_FILES);
}
