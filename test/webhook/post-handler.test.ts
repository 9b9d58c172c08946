import { expect, test } from 'vitest';
import { createPostHandler, type WebhookPost } from '../../src/webhook/post-handler.js';
import { APP_ID, genuinePost, SECRET } from '../support/receiver.js';

/** A post whose body throws when it is read. */
const poisonedPost: WebhookPost = {
  get body(): Uint8Array {
    throw new RangeError('on purpose');
  },
  signature: null,
  receivedAt: 0,
};

test('a post is stored with its age, and fails if the store returns no result for it', async () => {
  const ages: number[] = [];
  const accept = createPostHandler({
    secrets: [SECRET],
    appId: APP_ID,
    store: async deliveries => {
      ages.push(...deliveries.map(({ receivedMsAgo }) => receivedMsAgo));
      return [{ id: 1, jobId: null, isDuplicate: false }];
    },
  });
  expect(await accept([genuinePost({}, 100), genuinePost({}, 107)], 110)).toMatchObject([
    { kind: 'stored' },
    { kind: 'failed', failure: { code: 'no_result' }, delivery: { verdict: 'accepted' } },
  ]);
  expect(ages).toEqual([10, 3]);
});

test('a post that causes an exception fails alone, and the others are stored with their own results', async () => {
  const accept = createPostHandler({
    secrets: [SECRET],
    appId: APP_ID,
    store: async deliveries =>
      deliveries.map((_, index) => ({ id: index + 1, jobId: null, isDuplicate: false })),
  });
  const forged = { ...genuinePost(), signature: 'sha256=00' };
  const ends = await accept([genuinePost(), poisonedPost, forged, genuinePost()], 0);
  expect(ends).toMatchObject([
    { kind: 'stored', stored: { id: 1 } },
    { kind: 'failed', delivery: null, failure: { code: 'RangeError', message: 'on purpose' } },
    { kind: 'rejected', status: 401 },
    { kind: 'stored', stored: { id: 2 } },
  ]);
});
