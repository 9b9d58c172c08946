import type { MirrorPort } from '../../../mirror/port/mirror-port.js';
import { createMirrorStore } from '../../mirror/mirror-store.js';
import { toDatabase } from '../database.js';
import type { Postgres } from '../open-postgres.js';
import { CERTIFICATE_FILES } from './certificate-table.js';

/** Creates the mirror port on a migrated PostgreSQL database. */
export function createMirrorPort(postgres: Postgres): MirrorPort {
  return createMirrorStore(toDatabase(postgres), CERTIFICATE_FILES);
}
