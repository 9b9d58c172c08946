import { createHash } from 'node:crypto';
import type { Express } from 'express';
import { findCertificateFiles } from '../query/certificates.js';
import { findOrganization } from '../query/find-named.js';
import type { Reader } from '../store/contract/reader.js';
import { assertScope, chooseOrganization } from './access.js';
import { type ApiCall, type ApiContext, createEndpoint, getPathParameter } from './api-context.js';
import { parseInstant, parseParameters } from './parameters.js';
import { ApiProblem, createBadRequest } from './problem.js';
import { matchesEtag } from './respond.js';

/** Opens the stored PDF with a name. Returns null if there is none. */
export type OpenPdf = (file: string) => Promise<AsyncIterable<Uint8Array> | null>;

const CERTIFICATE_PARAMETERS = ['organization_id', 'as_of'];

/** Adds the route of the PDF of a retirement's certificate. */
export function addCertificateRoute(app: Express, context: ApiContext, openPdf: OpenPdf): void {
  app.get(
    '/v1/certificates/:id/pdf',
    createEndpoint(context, call => sendPdf(context, openPdf, call)),
  );
}

async function sendPdf(
  { readers, now }: ApiContext,
  openPdf: OpenPdf,
  { request, response, token }: ApiCall,
): Promise<void> {
  assertScope(token, 'certificates');
  const parameters = parseParameters(request, CERTIFICATE_PARAMETERS);
  const organization = chooseOrganization(token, parameters);
  const retirementId = getPathParameter(request, 'id');
  if (retirementId.includes('\0')) throw createBadRequest('id: expected an id without NUL characters.');
  const at = parseInstant(parameters, 'as_of', now());
  const [file = null, ...others] = await readers.withReader(async reader => {
    const organizationId = organization === null ? null : await findId(reader, organization);
    return await findCertificateFiles(reader, { retirementId, organizationId, at });
  });
  if (others.length > 0)
    throw createBadRequest('organization_id: expected one, because several organizations have this id.');
  if (file === null) throw new ApiProblem(404, 'The mirror has no stored certificate of this retirement.');
  const bytes = await readWhole(openPdf, file);
  const etag = `"${file.sha256}"`;
  response.set({ etag });
  if (matchesEtag(request.headers['if-none-match'], etag)) {
    response.status(304).end();
    return;
  }
  response.set({
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="${file.file.replaceAll(/[^\w.-]/g, '_')}"`,
  });
  response.end(bytes);
}

async function findId(reader: Reader, text: string): Promise<string> {
  const found = await findOrganization(reader, text);
  if ('id' in found) return found.id;
  throw createBadRequest(`organization_id: ${found.fault}`);
}

/** Reads a file and compares its hash, so that a damaged certificate is never sent. Holds no file while it is sent. */
async function readWhole(
  openPdf: OpenPdf,
  { file, sha256 }: { readonly file: string; readonly sha256: string },
): Promise<Buffer> {
  const content = await openPdf(file);
  const chunks: Uint8Array[] = [];
  if (content !== null) for await (const chunk of content) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (createHash('sha256').update(bytes).digest('hex') === sha256) return bytes;
  throw new Error(`the stored certificate ${file} is missing or damaged`);
}
