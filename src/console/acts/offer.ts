import type { Express, NextFunction, Request, Response } from 'express';
import { FORM, formIn, paramsOf } from '../answers.js';
import type { Readers } from '../readers.js';
import { ACTS, type Hands } from './acts.js';

export function offerActs(app: Express, readers: Readers, hands: Hands): void {
  for (const { path, run } of ACTS) {
    app.post(path, FORM, async (request: Request, response: Response, next: NextFunction) => {
      const wanted = { hands, params: paramsOf(request), form: formIn(request) };
      const shownAt = await readers.use(reader => run({ ...wanted, reader }));
      return shownAt === null ? next() : response.redirect(303, shownAt);
    });
  }
}
