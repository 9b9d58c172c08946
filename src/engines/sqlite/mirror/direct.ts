import type { Sqlite } from '../open.js';
import type { MirrorPort } from '../../../mirror/port.js';
import { createCertificateFiles } from './files.js';
import { createMirrorOperations } from './mirror.js';
import { type Call, portOf } from './operations.js';

/** Operations on a connection of this thread: each is done before its promise is handed out. */
export function createCall(db: Sqlite, certificates: string): Call {
  const operations = createMirrorOperations(db, createCertificateFiles(certificates));
  return async (name, given) => operations[name](...given);
}

export function createMirrorPort(db: Sqlite, certificates: string): MirrorPort {
  return portOf(createCall(db, certificates));
}
