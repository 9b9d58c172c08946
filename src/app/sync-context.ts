import type { Client } from '../client.js';
import type { WorkSettings } from './config/settings.js';
import type { InboxPort } from '../inbox/port.js';
import { createCertificateStore } from '../mirror/certificates/certificate-store.js';
import { createMirror } from '../mirror/create-mirror.js';
import type { PdfStore } from '../mirror/pdf-store.js';
import type { MirrorPort } from '../mirror/port.js';
import type { SyncContext } from '../sync/context.js';

export interface SyncDependencies {
  readonly inbox: InboxPort;
  readonly mirror: MirrorPort;
  readonly pdfs: PdfStore;
  readonly client: Client;
  readonly now: () => number;
  readonly random: () => number;
}

type Settings = Pick<WorkSettings, 'appId' | 'mirrorMembers' | 'retentionDays'>;

/** What all work needs, on ports that are open. What may not be held any more is taken out before. */
export async function createSyncContext(settings: Settings, parts: SyncDependencies): Promise<SyncContext> {
  const { inbox, mirror: port, pdfs, client, now, random } = parts;
  const { appId, mirrorMembers, retentionDays } = settings;
  const mirror = createMirror(port, now, { members: mirrorMembers });
  if (!mirrorMembers) await mirror.removeMembers();
  await pdfs.prepare();
  const certificates = createCertificateStore(port, pdfs, now);
  return { inbox, mirror, certificates, client, appId, mirrorMembers, retentionDays, now, random };
}
