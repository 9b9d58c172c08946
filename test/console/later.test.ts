import { join } from 'node:path';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';
import { createResponder } from '../../src/console/responder.js';
import { html, type Html } from '../../src/console/components/html.js';
import { setVisitor } from '../../src/console/guard/visitor.js';
import { createReaderPool } from '../../src/console/reader-pool.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import { listenForPeople } from '../../src/webhook/http-listener.js';
import { openConsoleStage, getPageText } from '../support/console.js';
import { openMirror } from '../support/mirror/open.js';
import { temporaryInbox } from '../support/inbox.js';

/** Serves a page whose slow part is rendered when `finish` is called. */
async function openSlowPage() {
  let finish: (end: Html) => void = () => undefined;
  const end = new Promise<Html>(resolve => {
    finish = resolve;
  });
  const answers = createResponder({ hasDemo: false, onFailure: () => undefined });
  const app = express().get('/', async (request, response) => {
    setVisitor(response, { name: null, mayAct: false, pageToken: 'token', isPageToken: () => false });
    const content = { title: 'Page', body: html`<h1>There</h1>`, renderRest: () => end };
    await answers.sendPage(request, response, content);
  });
  const listening = await listenForPeople(app, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => listening.close());
  const { body } = await fetch(`http://127.0.0.1:${listening.port}/`);
  const parts = body?.pipeThrough(new TextDecoderStream()).getReader();
  return { finish, next: async () => (await parts?.read())?.value ?? null };
}

test('the slow part of a page arrives after the rest', async () => {
  const { finish, next } = await openSlowPage();
  const first = await next();
  expect(first).toContain('<h1>There</h1>');
  expect(first).not.toContain('</main>');
  finish(html`<p>The end & all</p>`);
  const rest = [await next(), await next()].join('');
  expect(rest).toMatch(/^<p>The end & all<\/p><\/main>\n<footer>.*<\/footer>\n<\/body>\n<\/html>\n$/);
});

/** Opens a console whose every query fails. */
async function openBrokenConsole() {
  const readers = createReaderPool(async () => {
    const { folder } = await openMirror();
    temporaryInbox(folder);
    const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
    const all = () => Promise.reject(new Error('no answer'));
    const broken = { ...reader, all };
    return { ...broken, inSnapshot: async work => await work(broken) };
  });
  onTestFinished(() => readers.close());
  return await openConsoleStage({ readers });
}

test.each(['/rejected-webhooks', '/search?q=ab', '/?as-of=2026-05-04'])(
  'a page whose slow part fails says so, is complete HTML, and the error is reported: %s',
  async path => {
    const { page, faults } = await openBrokenConsole();
    const said = await page(path);
    expect(getPageText(said)).toContain(
      'The rest of this page could not be created. The log of the console has the reason.',
    );
    expect(said).toMatch(/<\/html>\n$/);
    expect(faults).toEqual([new Error('no answer')]);
  },
);

test('a page that cannot be rendered answers 500', async () => {
  const { open, faults } = await openBrokenConsole();
  expect((await open('/')).status).toBe(500);
  expect(faults).toEqual([new Error('no answer')]);
  expect((await open('/help')).status).toBe(200);
});
