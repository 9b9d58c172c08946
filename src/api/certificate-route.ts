import { createHash } from 'node:crypto';
import type { Express } from 'express';
import { findCertificateFiles } from '../query/certificates.js';
import { assertHasScope, chooseOrganization } from './access.js';
import { type ApiCall, type ApiContext, createEndpoint, getPathParameter } from './api-context.js';
import { findOrganizationId } from './change-route.js';
import { parseInstant, parseParameters } from './parameters.js';
import { ApiProblem, createBadRequest } from './problem.js';
import { matchesEtag } from './respond.js';

/** Opens the stored PDF with a name. Returns null if there is none. */
export type OpenPdf = (file: string) => Promise<AsyncIterable<Uint8Array> | null>;

const CERTIFICATE_PARAMETERS = ['organization_id', 'as_of'];

/** Adds the route that sends the certificate of a retirement as PDF. */
export function addCertificateRoute(app: Express, context: ApiContext, openPdf: OpenPdf): void {
  app.get(
    '/v1/certificates/:id/pdf',
    createEndpoint(context, call => sendPdf(context, openPdf, call)),
  );
}

/** Sends the certificate of a retirement as PDF, or 304 if the client has it already. */
async function sendPdf(
  { readers, now }: ApiContext,
  openPdf: OpenPdf,
  { request, response, token }: ApiCall,
): Promise<void> {
  assertHasScope(token, 'certificates');
  const parameters = parseParameters(request, CERTIFICATE_PARAMETERS);
  const organization = chooseOrganization(token, parameters);
  const retirementId = getPathParameter(request, 'id');
  if (retirementId.includes('\0')) throw createBadRequest('id: expected an id without NUL characters.');
  const at = parseInstant(parameters, 'as_of', now());
  const [file = null, ...others] = await readers.withReader(async reader => {
    const organizationId = organization === null ? null : await findOrganizationId(reader, organization);
    return await findCertificateFiles(reader, { retirementId, organizationId, at });
  });
  if (others.length > 0)
    throw createBadRequest('organization_id: expected one, because several organizations have this id.');
  if (file === null) throw new ApiProblem(404, 'The mirror has no stored certificate of this retirement.');
  const bytes = await readCertificateFile(openPdf, file);
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

/** Reads a certificate file into memory and checks its hash. Throws an error if the file is missing or damaged. */
async function readCertificateFile(
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
