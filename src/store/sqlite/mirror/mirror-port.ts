import type { MirrorPort } from '../../../mirror/port/mirror-port.js';
import { createMirrorStore } from '../../mirror/mirror-store.js';
import { createCertificateFileAccess } from './certificate-folder.js';
import { createDatabaseOn, tuneForWriting } from '../database.js';
import type { Sqlite } from '../open-database.js';

/** Creates the mirror port on a migrated file and the folder of certificate files. */
export function createMirrorPort(db: Sqlite, certificates: string): MirrorPort {
  return createMirrorStore(createDatabaseOn(tuneForWriting(db)), createCertificateFileAccess(certificates));
}
