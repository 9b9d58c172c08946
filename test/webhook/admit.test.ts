import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/webhook/listen.js';
import type { PostEnd } from '../../src/webhook/posts.js';
import { type Answer, createReceiver } from '../../src/webhook/receiver.js';

const REFUSED: PostEnd = { kind: 'rejected', status: 401, detail: 'the signature is not valid' };

/** Answers nothing until it is told to. */
async function heldReceiver() {
  const held: ((end: PostEnd | null) => void)[] = [];
  const answers: Answer[] = [];
  const receiver = createReceiver({
    headerPrefix: 'registry',
    known: {},
    accept: () =>
      new Promise((resolve, reject) => {
        held.push(end => (end === null ? reject(new Error('on purpose')) : resolve(end)));
      }),
    now: Date.now,
    answered: answer => answers.push(answer),
  });
  const listening = await listen(receiver, { host: '127.0.0.1', port: 0, graceMs: 0 });
  onTestFinished(() => listening.close());
  const url = `http://127.0.0.1:${listening.port}/webhooks`;
  const request = { method: 'POST', body: new Uint8Array(65_536), headers: { connection: 'close' } };
  const post = async () => (await fetch(url, request)).status;
  const release = (end: PostEnd | null): void => held.splice(0).forEach(answer => answer(end));
  return { post, held, answers, release };
}

test('T15 posts that nobody has verified yet hold no more than 32 MB, however many connections they use', async () => {
  const { post, held, answers, release } = await heldReceiver();
  for (const end of [REFUSED, null]) {
    const most = Array.from({ length: 512 }, post);
    await expect.poll(() => held.length, { timeout: 30_000 }).toBe(512);
    expect(await post()).toBe(503);
    expect(answers.at(-1)?.failure).toMatchObject({ code: 'too_many_waiting' });
    release(end);
    expect(new Set(await Promise.all(most))).toEqual(new Set([end === null ? 503 : 401]));
  }
  const later = post();
  await expect.poll(() => held.length).toBe(1);
  release(REFUSED);
  expect(await later).toBe(401);
});
