import type { Express, NextFunction, Request, Response } from 'express';
import { type Responder, readFormBody } from '../responder.js';
import type { ReaderPool } from '../reader-pool.js';
import { ALL_CHANGES, readNewest } from '../../query/history/changes.js';
import type { PageContent } from '../page.js';
import { renderButton } from '../actions/button.js';
import { renderChangeFeed, groupChanges } from '../components/changes.js';
import { html } from '../components/html.js';
import { renderAge } from '../components/formats.js';
import type { Reader } from '../../store/contract/reader.js';

/** An action on the sandbox registry. It never touches a real one. */
export interface DemoAction {
  /** Name in the URL. */
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** Returns a sentence about what was done; throws if the registry refused it. */
  readonly run: (reader: Reader) => Promise<string>;
}

interface PerformedAction {
  readonly at: string;
  readonly result: string;
}

const CHANGES = 200;
const GROUPS = 12;

async function renderDemo(
  reader: Reader,
  actions: readonly DemoAction[],
  done: readonly PerformedAction[],
  now: number,
): Promise<PageContent> {
  const changes = await readNewest(reader, ALL_CHANGES, null, CHANGES);
  const body = html`<h1>Demo</h1>
<p>This mirror reads a sandbox registry on this machine. Actions run in the sandbox registry; watch the mirror pick them up.</p>
<ul class="actions card">${actions.map(
    ({ name, label: says, description: shows }) =>
      html`<li>${renderButton(true, `/demo/${name}`, says)} <span>${shows}</span></li>`,
  )}</ul>
<section id="done" data-live>${
    done.length > 0 &&
    html`<h2>Your actions</h2><ul class="card">${done.map(each => html`<li>${renderAge(each.at, now)}: ${each.result}</li>`)}</ul>`
  }</section>
<section id="moved" data-live>${renderChangeFeed('Recent changes in the mirror', groupChanges(changes).slice(0, GROUPS), { now })}</section>`;
  return { title: 'Demo', body };
}

interface DemoOptions {
  readonly actions: readonly DemoAction[];
  readonly readers: ReaderPool;
  readonly now: () => number;
  readonly responder: Responder;
}

const MAX_REMEMBERED = 10;

export function addDemoRoutes(app: Express, { actions, readers, now, responder }: DemoOptions): void {
  const done: PerformedAction[] = [];

  app.get('/demo', async (request: Request, response: Response) => {
    const shown = await readers.use(reader => renderDemo(reader, actions, done, now()));
    await responder.page(request, response, shown);
  });
  app.post('/demo/:name', readFormBody, async (request: Request, response: Response, next: NextFunction) => {
    const action = actions.find(({ name }) => name === request.params['name']);
    if (action === undefined) return next();
    const says = await readers
      .use(reader => action.run(reader))
      .catch(({ message }: Error) => `Failed: ${message}`);
    done.unshift({ at: new Date(now()).toISOString(), result: says });
    done.splice(MAX_REMEMBERED);
    return response.redirect(303, '/demo');
  });
}
