import type { Client } from '../client.js';
import type { WorkSettings } from './config/settings-table.js';
import type { InboxPort } from '../inbox/port.js';
import { createCertificateStore } from '../mirror/certificates/certificate-store.js';
import { createMirror } from '../mirror/create-mirror.js';
import type { PdfStore } from '../mirror/certificates/pdf-store.js';
import type { MirrorPort } from '../mirror/port/mirror-port.js';
import type { SyncContext } from '../sync/sync-context.js';

/** Open ports, the registry client and a clock, from which a sync context is made. */
export interface SyncDependencies {
  readonly inbox: InboxPort;
  readonly mirror: MirrorPort;
  readonly pdfs: PdfStore;
  readonly client: Client;
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * Creates the context of sync jobs, with the mirror and the certificate store. First prepares the storage of certificate files and,
 * if `mirrorMembers` is false, deletes the members that were mirrored earlier.
 */
export async function createSyncContext(
  settings: Pick<WorkSettings, 'appId' | 'mirrorMembers' | 'retentionDays' | 'consoleActions'>,
  dependencies: SyncDependencies,
): Promise<SyncContext> {
  const { inbox, mirror: port, pdfs, client, now, random } = dependencies;
  const { appId, mirrorMembers, retentionDays, consoleActions: runsOrders } = settings;
  const mirror = createMirror(port, now, { mirrorMembers });
  if (!mirrorMembers) await mirror.removeMembers();
  await pdfs.prepare();
  const certificates = createCertificateStore(port, pdfs, now);
  return {
    inbox,
    mirror,
    certificates,
    client,
    appId,
    mirrorMembers,
    retentionDays,
    runsOrders,
    now,
    random,
  };
}
