import type { Express, NextFunction, Request, Response } from 'express';
import { isFileReferenced, readRetirementOfFile } from '../query/certificates.js';
import { nameCertificate } from '../text/certificate-name.js';
import { type Responder, getPathParameters } from './responder.js';
import { allowOwnFrame } from './guard/security-headers.js';
import type { CertificateFileAccess } from './page.js';
import type { ReaderPool } from './reader-pool.js';

/** Adds the route that serves the PDF files of current and past certificates. */
export function addCertificateRoute(
  app: Express,
  readers: ReaderPool,
  certificateFiles: CertificateFileAccess,
  responder: Responder,
): void {
  app.get('/certificates/:file', async (request: Request, response: Response, next: NextFunction) => {
    const { file = '' } = getPathParameters(request);
    const { isInRow, names } = await readers.withReader(async reader => ({
      isInRow: await isFileReferenced(reader, file),
      names: await readRetirementOfFile(reader, file),
    }));
    const content = isInRow ? await certificateFiles.openFile(file) : null;
    if (content === null) return next();
    const fileName = names === null ? file : nameCertificate(names);
    response.set({
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename*=UTF-8''${encodeURIComponent(fileName)}`,
      ...allowOwnFrame(),
    });
    return await responder.sendStream(response, content);
  });
}
