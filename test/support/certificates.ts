import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import { type SqliteMirror, TRAFFIC } from './mirror/open.js';

const getPdfText = (id: string) => `%PDF-1.7 the certificate of ${id}\n%%EOF\n`;

/** Stores a certificate in files as a certificate walk does, and returns its file name. */
export async function storeCertificate(
  scene: Pick<SqliteMirror, 'folder' | 'port' | 'pdfs' | 'clock'>,
  id: string,
  text = getPdfText(id),
): Promise<string> {
  await writeCertificate(scene, id, text);
  const names = readdirSync(join(scene.folder, 'certificates'));
  return names.find(name => name.startsWith(id) && name.endsWith('.pdf')) ?? '';
}

/** Stores a certificate on either engine as a certificate walk does. */
export async function writeCertificate(
  scene: Pick<SqliteMirror, 'port' | 'pdfs' | 'clock'>,
  id: string,
  text = getPdfText(id),
): Promise<void> {
  const files = scene.pdfs(100_000);
  await files.prepare();
  const store = createCertificateStore(scene.port, files, () => scene.clock.at);
  await store.makeNewDue();
  const walk = await store.beginSession({
    organizationId: 'organization-1',
    claim: 1,
    startedAt: scene.clock.at,
    trigger: 'schedule',
  });
  await walk.store(id, streamBytes(text), scene.clock.at);
  await walk.finish(TRAFFIC);
}

async function* streamBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
