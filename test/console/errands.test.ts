import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Errands } from '../../src/console/acts/errands.js';
import { consoleStage, NO_ERRANDS, wordsOf } from '../support/console-stage.js';

const BODY = 'SQLite format 3, and so on';

async function stage(errands: Partial<Errands>) {
  return await consoleStage({ canAct: true, errands: { ...NO_ERRANDS, ...errands } });
}

/** Begun, and under way until somebody leaves. */
function endless() {
  const seen: AbortSignal[] = [];
  const run = (gone: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      seen.push(gone);
      gone.addEventListener('abort', () => reject(new Error('left')));
    });
  return { seen, errands: { verify: run, copy: run } };
}

test('what a check has found is told on its page, as text', async () => {
  const says = 'check  where\n<img src=x>';
  const { send, asked, page } = await stage({ verify: async () => ({ isWhole: false, says }) });
  expect(await page('/')).toContain('action="/verify"');
  const answer = await send('/verify');
  const shown = await answer.text();
  expect([answer.status, wordsOf(shown).includes('Something is not as it was stored.')]).toEqual([200, true]);
  expect(shown).toContain('&lt;img src=x&gt;');
  expect(asked).toEqual([{ act: 'verify' }]);
});

test('a copy comes whole, with its name and size', async () => {
  const copy = async () => ({
    name: 'mirror.db',
    bytes: BODY.length,
    body: Readable.from([Buffer.from(BODY)]),
  });
  const { send, asked, page } = await stage({ copy });
  expect(await page('/ask')).toContain('action="/copy"');
  const answer = await send('/copy');
  expect(await answer.text()).toBe(BODY);
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="mirror.db"');
  expect(answer.headers.get('content-length')).toBe(String(BODY.length));
  expect(asked).toEqual([{ act: 'copy' }]);
});

test('where there is no room a sentence says so', async () => {
  const { send } = await stage({ copy: async () => ({ fault: 'There is no room here.' }) });
  const answer = await send('/copy');
  expect([answer.status, wordsOf(await answer.text()).includes('There is no room here.')]).toEqual([
    507,
    true,
  ]);
});

test.each(['/verify', '/copy'])('one is made at a time, and who leaves ends it: %s', async path => {
  const { seen, errands } = endless();
  const { send, port, cookie, faults } = await stage(errands);
  const left = new AbortController();
  const ask = (signal: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      signal,
    })
      .then(answer => answer.text())
      .catch(() => 'left');
  const first = ask(left.signal);
  await expect.poll(() => seen.length).toBe(1);
  for (const other of ['/verify', '/copy']) expect((await send(other)).status, other).toBe(409);
  left.abort();
  expect(await first).toBe('left');
  await expect.poll(() => seen[0]?.aborted).toBe(true);
  void ask(new AbortController().signal);
  await expect.poll(() => seen.length).toBe(2);
  expect(faults).toEqual([]);
});
