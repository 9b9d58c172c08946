import type { Express, NextFunction, Request, Response } from 'express';
import { type Answers, FORM } from '../answers.js';
import type { Readers } from '../readers.js';
import { ALL_CHANGES, readNewest } from '../../query/history/changes.js';
import type { Shown } from '../page.js';
import { button } from '../actions/button.js';
import { feed, groupsOf } from '../components/changes.js';
import { html } from '../components/html.js';
import { ago } from '../components/words.js';
import type { Reader } from '../../store/contract/reader.js';

/** What a visitor may do at a made-up registry, handed in by who knows it. Nothing of it touches a real one. */
export interface DemoAction {
  /** As it stands in an address. */
  readonly name: string;
  readonly says: string;
  /** What comes of it. */
  readonly shows: string;
  /** Answers a sentence of what was done; throws where the registry refused. */
  readonly run: (reader: Reader) => Promise<string>;
}

interface Done {
  readonly at: string;
  readonly says: string;
}

const CHANGES = 200;
const GROUPS = 12;

async function showDemo(
  reader: Reader,
  actions: readonly DemoAction[],
  done: readonly Done[],
  now: number,
): Promise<Shown> {
  const changes = await readNewest(reader, ALL_CHANGES, null, CHANGES);
  const body = html`<h1>Demo</h1>
<p>This mirror reads a sandbox registry on this machine. Actions run in the sandbox registry; watch the mirror pick them up.</p>
<ul class="actions card">${actions.map(
    ({ name, says, shows }) => html`<li>${button(true, `/demo/${name}`, says)} <span>${shows}</span></li>`,
  )}</ul>
<section id="done" data-live>${
    done.length > 0 &&
    html`<h2>Your actions</h2><ul class="card">${done.map(each => html`<li>${ago(each.at, now)}: ${each.says}</li>`)}</ul>`
  }</section>
<section id="moved" data-live>${feed('Recent changes in the mirror', groupsOf(changes).slice(0, GROUPS), { now })}</section>`;
  return { title: 'Demo', body };
}

interface DemoOptions {
  readonly actions: readonly DemoAction[];
  readonly readers: Readers;
  readonly now: () => number;
  readonly answers: Answers;
}

const REMEMBERED = 10;

export function offerDemo(app: Express, { actions, readers, now, answers }: DemoOptions): void {
  const done: Done[] = [];

  app.get('/demo', async (request: Request, response: Response) => {
    const shown = await readers.use(reader => showDemo(reader, actions, done, now()));
    await answers.page(request, response, shown);
  });
  app.post('/demo/:name', FORM, async (request: Request, response: Response, next: NextFunction) => {
    const action = actions.find(({ name }) => name === request.params['name']);
    if (action === undefined) return next();
    const says = await readers
      .use(reader => action.run(reader))
      .catch(({ message }: Error) => `Failed: ${message}`);
    done.unshift({ at: new Date(now()).toISOString(), says });
    done.splice(REMEMBERED);
    return response.redirect(303, '/demo');
  });
}
