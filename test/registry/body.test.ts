import { expect, test } from 'vitest';
import { readBody } from '../../src/registry/http/body.js';

/** A stream that says neither more nor that it has ended, whatever becomes of its call. */
function endlessWait(): Response {
  return new Response(
    new ReadableStream({
      start: controller => controller.enqueue(new TextEncoder().encode('all of it')),
      pull: () => new Promise(() => {}),
    }),
  );
}

const LIMITS = { maxBytes: 1000, idleMs: 60_000 };

test('T33 a body that neither goes on nor ends is left when its call is aborted', async () => {
  const abort = new AbortController();
  const gathered = readBody(endlessWait(), { ...LIMITS, abort });
  setTimeout(() => abort.abort(new Error('not wanted any more')), 5);
  await expect(gathered).rejects.toThrow('not wanted any more');
});

test('T33 the same where it was aborted before, and where nothing comes for too long', async () => {
  const abort = new AbortController();
  abort.abort(new Error('not wanted any more'));
  await expect(readBody(endlessWait(), { ...LIMITS, abort })).rejects.toThrow('not wanted any more');
  const patient = { ...LIMITS, idleMs: 5, abort: new AbortController() };
  await expect(readBody(endlessWait(), patient)).rejects.toMatchObject({ code: 'timeout' });
});
