import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Receiver,
  openReceiver,
  payloadOf,
  requestBytes,
  type SignedPost,
  signedPost,
} from '../support/receiver.js';
import { holdLock } from '../support/held-locks.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { openConnection } from '../support/load.js';

function createPost(nonce: number): SignedPost {
  return signedPost(payloadOf({ nonce }));
}

/** Sends all posts over concurrent connections; returns the statuses in order. */
async function postAll(
  receiver: Receiver,
  posts: readonly SignedPost[],
  connections: number,
): Promise<number[]> {
  const statuses: number[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = openConnection(receiver.port);
      for (let index = next++; index < posts.length; index = next++) {
        const post = posts[index];
        if (post !== undefined) statuses[index] = await connection.send(requestBytes(post));
      }
      connection.close();
    }),
  );
  return statuses;
}

test('T09 50 identical concurrent posts are all answered 202 and lead to one job', async () => {
  const receiver = await openReceiver();
  const posts = Array.from<SignedPost>({ length: 50 }).fill(createPost(0));
  expect(await postAll(receiver, posts, 50)).toEqual(posts.map(() => 202));
  expect(receiver.stored()).toBe(50);
  expect(await receiver.inbox.countJobs()).toMatchObject({ waiting: 1 });
  expect(receiver.db.prepare('SELECT count(*) FROM signed_texts').pluck().get()).toBe(1);
});

async function expectUnavailable(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.text()).not.toMatch(/SQLITE|database|full|locked|inbox\.db/);
}

test('T17 a delivery is answered 503 while the disk is full, and accepted once there is space', async () => {
  const receiver = await openReceiver();
  const pages = Number(receiver.db.pragma('page_count', { simple: true }));
  receiver.db.pragma(`max_page_count = ${pages}`);
  const posts = Array.from({ length: 40 }, (_, index) => createPost(index));
  const statuses = await postAll(receiver, posts, 8);
  expect(new Set(statuses)).toEqual(new Set([202, 503]));
  expect(receiver.stored()).toBe(statuses.filter(status => status === 202).length);
  const last = createPost(41);
  await expectUnavailable(await receiver.post(last.body, last.headers));
  expect(receiver.answers.at(-1)).toMatchObject({
    status: 503,
    stored: null,
    failure: { code: 'SQLITE_FULL' },
  });
  receiver.db.pragma('max_page_count = 100000');
  expect((await receiver.post(last.body, last.headers)).status).toBe(202);
});

test('T17 a delivery is answered 503 while the database is locked, and accepted once it is free', async () => {
  const folder = temporaryFolder();
  const receiver = await openReceiver({ db: temporaryInbox(folder), thread: true });
  const release = holdLock(join(folder, 'inbox.db'));
  onTestFinished(release);
  const { body, headers } = createPost(0);
  const responses = await Promise.all(Array.from({ length: 20 }, () => receiver.post(body, headers)));
  for (const response of responses) await expectUnavailable(response);
  expect((await receiver.post('{}')).status).toBe(400);
  release();
  expect((await receiver.post(body, headers)).status).toBe(202);
  expect(receiver.stored()).toBe(1);
});

test('a delivery beyond the limit of waiting ones is answered 503', async () => {
  const receiver = await openReceiver({ maxWaiting: 3 });
  const posts = Array.from({ length: 200 }, (_, index) => createPost(index));
  const statuses = await postAll(receiver, posts, 64);
  expect(new Set(statuses)).toEqual(new Set([202, 503]));
  expect(receiver.stored()).toBe(statuses.filter(status => status === 202).length);
});
