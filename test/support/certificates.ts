import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateStore } from '../../src/mirror/certificates/certificate-store.js';
import type { CertificateSession } from '../../src/mirror/mirror.js';
import { type SqliteMirror, TRAFFIC } from './mirror/open.js';

/** What a certificate walk needs. */
type CertificateScene = Pick<SqliteMirror, 'port' | 'pdfs' | 'clock'>;

const getPdfText = (id: string) => `%PDF-1.7 the certificate of ${id}\n%%EOF\n`;

/** Stores a certificate in files as a certificate walk does, and returns its file name. */
export async function storeCertificate(
  scene: CertificateScene & Pick<SqliteMirror, 'folder'>,
  id: string,
  text = getPdfText(id),
): Promise<string> {
  await writeCertificate(scene, id, text);
  const names = readdirSync(join(scene.folder, 'certificates'));
  return names.find(name => name.startsWith(id) && name.endsWith('.pdf')) ?? '';
}

/** Stores a certificate on either engine as a certificate walk does. */
export async function writeCertificate(
  scene: CertificateScene,
  id: string,
  text = getPdfText(id),
): Promise<void> {
  const walk = await beginCertificateWalk(scene);
  await walk.store(id, streamText(text), scene.clock.at);
  await walk.finish(TRAFFIC);
}

/** Makes the certificates of new retirements due, and begins a walk that requests the due ones. */
export async function beginCertificateWalk(
  { port, pdfs, clock }: CertificateScene,
  { organizationId = 'organization-1', claim = 1 } = {},
): Promise<CertificateSession> {
  const files = pdfs(100_000);
  await files.prepare();
  const store = createCertificateStore(port, files, () => clock.at);
  await store.makeNewDue();
  return await store.beginSession({ organizationId, claim, startedAt: clock.at, trigger: 'schedule' });
}

/** Returns a whole PDF as it is downloaded. */
export function streamPdf(words: string): AsyncGenerator<Uint8Array> {
  return streamText(`%PDF-1.7 ${words}\n%%EOF\n`);
}

export async function* streamText(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
