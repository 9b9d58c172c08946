import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { serveThread } from '../src/thread.js';

/** The other end of what is served. */
async function serve(works: object) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const first = once(port1, 'message');
  await serveThread(port2, () => works);
  expect(await first).toMatchObject([null]);
  return async (name: string, ...given: unknown[]) => {
    const answered = once(port1, 'message');
    port1.postMessage({ id: 7, name, given });
    return (await answered)[0];
  };
}

test('a thread answers what its work does, and what nobody there does is a fault, not an empty answer', async () => {
  const ask = await serve({ double: (value: number) => 2 * value });
  expect(await ask('double', 21)).toEqual({ id: 7, answer: 42 });
  expect(await ask('treble', 21)).toMatchObject({
    id: 7,
    fault: { message: expect.stringContaining('treble') },
  });
});
