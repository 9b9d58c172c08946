import type { Express, NextFunction, Request, Response } from 'express';
import { type Answers, FORM } from '../answers.js';
import type { Readers } from '../readers.js';
import { type Deed, type Done, showDemo } from './demo.js';

export interface DemoOptions {
  readonly deeds: readonly Deed[];
  readonly readers: Readers;
  readonly now: () => number;
  readonly answers: Answers;
}

const REMEMBERED = 10;

export function offerDemo(app: Express, { deeds, readers, now, answers }: DemoOptions): void {
  const done: Done[] = [];

  app.get('/demo', async (request: Request, response: Response) => {
    const shown = await readers.use(reader => showDemo(reader, deeds, done, now()));
    await answers.page(request, response, shown);
  });
  app.post('/demo/:name', FORM, async (request: Request, response: Response, next: NextFunction) => {
    const deed = deeds.find(({ name }) => name === request.params['name']);
    if (deed === undefined) return next();
    const says = await readers.use(reader => deed.run(reader)).catch(refusalOf);
    done.unshift({ at: new Date(now()).toISOString(), says });
    done.splice(REMEMBERED);
    return response.redirect(303, '/demo');
  });
}

function refusalOf(error: unknown): string {
  return `It was not done: ${error instanceof Error ? error.message : 'the registry refused'}`;
}
