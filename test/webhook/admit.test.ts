import { expect, test } from 'vitest';
import { createAdmit } from '../../src/webhook/group-commit.js';
import type { PostEnd, Post } from '../../src/webhook/posts.js';

const REFUSED: PostEnd = { kind: 'rejected', status: 401, detail: 'the signature is not valid' };

const postOf = (bytes: number): Post => ({ body: new Uint8Array(bytes), signature: null, receivedAt: 0 });

/** Answers nothing until it is told to. */
function heldReceiver() {
  const held: (() => void)[] = [];
  const admit = createAdmit(
    () =>
      new Promise(resolve => {
        held.push(() => resolve(REFUSED));
      }),
  );
  const release = (): void => {
    for (const answer of held.splice(0)) answer();
  };
  return { admit, held, release };
}

test('T15 posts that nobody has verified yet hold no more than 32 MB, however many connections they use', async () => {
  const { admit, held, release } = heldReceiver();
  const most = Array.from({ length: 512 }, () => admit(postOf(65_536)));
  await expect(admit(postOf(1))).rejects.toMatchObject({ code: 'too_many_waiting' });
  expect(held).toHaveLength(512);
  release();
  await Promise.all(most);
  const later = admit(postOf(65_536));
  release();
  expect(await later).toBe(REFUSED);
});

test('a post that could not be tried counts no longer', async () => {
  const admit = createAdmit(() => Promise.reject(new Error('on purpose')));
  for (let i = 0; i < 100; i += 1) await expect(admit(postOf(65_536))).rejects.toThrow('on purpose');
});
