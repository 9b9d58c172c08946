import type { Express, NextFunction, Request, Response } from 'express';
import { isNamed } from '../query/certificates.js';
import { type Responder, getPathParameters } from './responder.js';
import { allowOwnFrame } from './guard/headers.js';
import type { CertificateFileAccess } from './page.js';
import type { ReaderPool } from './reader-pool.js';

/** Serves certificate files that a current or past row names, and no others. */
export function addCertificateRoute(
  app: Express,
  readers: ReaderPool,
  pdfs: CertificateFileAccess,
  responder: Responder,
): void {
  app.get('/certificates/:file', async (request: Request, response: Response, next: NextFunction) => {
    const { file = '' } = getPathParameters(request);
    const named = await readers.use(reader => isNamed(reader, file));
    const body = named ? await pdfs.open(file) : null;
    if (body === null) return next();
    response.set({ 'content-type': 'application/pdf', 'content-disposition': 'inline', ...allowOwnFrame() });
    return await responder.stream(response, body);
  });
}
