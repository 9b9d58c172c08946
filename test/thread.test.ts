import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { serveThread } from '../src/thread.js';

/** Serves functions and returns how to call them as the other thread would. */
async function serveFunctions(functions: object) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const startMessage = once(port1, 'message');
  await serveThread(port2, () => functions);
  expect(await startMessage).toMatchObject([null]);
  return async (name: string, ...parameters: unknown[]) => {
    const response = once(port1, 'message');
    port1.postMessage({ id: 7, name, parameters });
    return (await response)[0];
  };
}

test('a thread answers with the result of its function, and with an error if it has no such function', async () => {
  const call = await serveFunctions({ double: (value: number) => 2 * value });
  expect(await call('double', 21)).toEqual({ id: 7, result: 42 });
  expect(await call('treble', 21)).toMatchObject({
    id: 7,
    error: { message: expect.stringContaining('treble') },
  });
});
