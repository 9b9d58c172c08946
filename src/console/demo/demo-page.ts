import type { Express, NextFunction, Request, Response } from 'express';
import { requireActingRole } from '../actions/action-routes.js';
import { getVisitor } from '../guard/visitor.js';
import type { Responder } from '../responder.js';
import type { ReaderPool } from '../reader-pool.js';
import { ALL_CHANGES, readNewest } from '../../query/history/changes.js';
import { readOrigin } from '../../query/names.js';
import type { PageContent } from '../page.js';
import { type ButtonVisitor, renderButton } from '../actions/button.js';
import { renderChangeFeed, groupChanges } from '../components/change-feed.js';
import { html } from '../components/html.js';
import { renderAge, renderInstant } from '../components/instants.js';
import type { Reader } from '../../store/contract/reader.js';

/** An action on the sandbox registry. It never touches a real one. */
export interface DemoAction {
  /** Name in the URL. */
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** Performs the action and returns a sentence about the result. Throws if the registry refuses the action. */
  readonly run: (reader: Reader) => Promise<string>;
}

interface PerformedAction {
  readonly at: string;
  readonly result: string;
}

const MAX_CHANGES = 200;
const MAX_CHANGE_GROUPS = 12;

/** Renders the demo page with the possible actions, the performed actions and the recent changes in the mirror. */
async function renderDemoPage(
  reader: Reader,
  actions: readonly DemoAction[],
  performedActions: readonly PerformedAction[],
  visitor: ButtonVisitor,
  now: number,
): Promise<PageContent> {
  const changes = await readNewest(reader, ALL_CHANGES, null, MAX_CHANGES);
  const origin = await readOrigin(reader);
  const simulatedUntil = origin?.simulated_until ?? null;
  const groups = groupChanges(changes).slice(0, MAX_CHANGE_GROUPS);
  const body = html`<h1>Demo</h1>
<p>This mirror reads a sandbox registry on this machine. Actions run in the sandbox registry; watch the mirror pick them up.${simulatedUntil !== null && html` The history until ${renderInstant(simulatedUntil)} was played with a simulated clock, and evidence never covers it.`}</p>
<ul class="actions card">${actions.map(
    ({ name, label, description }) =>
      html`<li>${renderButton(visitor, `/demo/${name}`, label)} <span>${description}</span></li>`,
  )}</ul>
<section id="done" data-live>${
    performedActions.length > 0 &&
    html`<h2>Your actions</h2><ul class="card">${performedActions.map(({ at, result }) => html`<li>${renderAge(at, now)}: ${result}</li>`)}</ul>`
  }</section>
<section id="moved" data-live>${renderChangeFeed('Recent changes in the mirror', groups, { now })}</section>`;
  return { title: 'Demo', body };
}

interface DemoOptions {
  readonly actions: readonly DemoAction[];
  readonly readers: ReaderPool;
  readonly now: () => number;
  readonly responder: Responder;
}

const MAX_REMEMBERED = 10;

/** Adds the demo page and the route that performs a demo action. */
export function addDemoRoutes(app: Express, { actions, readers, now, responder }: DemoOptions): void {
  // The latest actions are kept until the console stops.
  const performedActions: PerformedAction[] = [];

  app.get('/demo', async (request: Request, response: Response) => {
    const { mayAct: canAct, pageToken } = getVisitor(response);
    const content = await readers.withReader(reader =>
      renderDemoPage(reader, actions, performedActions, { canAct, pageToken }, now()),
    );
    await responder.sendPage(request, response, content);
  });
  app.post(
    '/demo/:name',
    requireActingRole(responder),
    async (request: Request, response: Response, next: NextFunction) => {
      const action = actions.find(({ name }) => name === request.params['name']);
      if (action === undefined) return next();
      const result = await readers
        .withReader(reader => action.run(reader))
        .catch(({ message }: Error) => `Failed: ${message}`);
      performedActions.unshift({ at: new Date(now()).toISOString(), result });
      performedActions.splice(MAX_REMEMBERED);
      return response.redirect(303, '/demo');
    },
  );
}
