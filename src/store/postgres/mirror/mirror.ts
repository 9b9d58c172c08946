import type { MirrorPort } from '../../../mirror/port.js';
import { createMirrorStore } from '../../mirror/mirror.js';
import { databaseIn } from '../database.js';
import type { Postgres } from '../open.js';
import { CERTIFICATE_FILES } from './certificates.js';

/** The mirror in a PostgreSQL that has been migrated. */
export function createMirrorPort(postgres: Postgres): MirrorPort {
  return createMirrorStore(databaseIn(postgres), CERTIFICATE_FILES);
}
