import { expect, test } from 'vitest';
import { readBody } from '../../src/registry/http/response-body.js';

/** Creates a response whose body stalls after its first bytes and ignores an abort. */
function createStalledResponse(): Response {
  return new Response(
    new ReadableStream({
      start: controller => controller.enqueue(new TextEncoder().encode('all of it')),
      pull: () => new Promise(() => {}),
    }),
  );
}

const LIMITS = { maxBytes: 1000, idleMs: 60_000 };

test('T33 reading a body that stalls ends when the request is aborted', async () => {
  const abort = new AbortController();
  const gathered = readBody(createStalledResponse(), { ...LIMITS, abort });
  setTimeout(() => abort.abort(new Error('not wanted any more')), 5);
  await expect(gathered).rejects.toThrow('not wanted any more');
});

test('T33 reading a body that stalls ends at once if it was aborted before, and at the idle limit', async () => {
  const abort = new AbortController();
  abort.abort(new Error('not wanted any more'));
  await expect(readBody(createStalledResponse(), { ...LIMITS, abort })).rejects.toThrow(
    'not wanted any more',
  );
  const patient = { ...LIMITS, idleMs: 5, abort: new AbortController() };
  await expect(readBody(createStalledResponse(), patient)).rejects.toMatchObject({ code: 'timeout' });
});
