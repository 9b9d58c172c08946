import type { Express, NextFunction, Request, Response } from 'express';
import { isNamed } from '../query/certificates.js';
import { type Answers, paramsOf } from './answers.js';
import { framedByUs } from './guard/headers.js';
import type { Pdfs } from './page.js';
import type { Readers } from './readers.js';

/** Files that a row names or named, and no others. */
export function offerCertificates(app: Express, readers: Readers, pdfs: Pdfs, answers: Answers): void {
  app.get('/certificates/:file', async (request: Request, response: Response, next: NextFunction) => {
    const { file = '' } = paramsOf(request);
    const named = await readers.use(reader => isNamed(reader, file));
    const body = named ? await pdfs.open(file) : null;
    if (body === null) return next();
    response.set({ 'content-type': 'application/pdf', 'content-disposition': 'inline', ...framedByUs() });
    return await answers.stream(response, body);
  });
}
