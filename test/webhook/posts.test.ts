import { expect, test } from 'vitest';
import { createPostHandler, type WebhookPost } from '../../src/webhook/posts.js';
import { APP_ID, genuinePost, SECRET } from '../support/receiver.js';

/** A body that cannot even be looked at. */
const poison: WebhookPost = {
  get body(): Uint8Array {
    throw new RangeError('on purpose');
  },
  signature: null,
  receivedAt: 0,
};

test('each is stored with how long ago it came, and one without a result of its own failed', async () => {
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

test('a post that we cannot cope with fails alone: those beside it are stored, each with its own result', async () => {
  const accept = createPostHandler({
    secrets: [SECRET],
    appId: APP_ID,
    store: async deliveries =>
      deliveries.map((_, index) => ({ id: index + 1, jobId: null, isDuplicate: false })),
  });
  const forged = { ...genuinePost(), signature: 'sha256=00' };
  const outcomes = await accept([genuinePost(), poison, forged, genuinePost()], 0);
  expect(outcomes).toMatchObject([
    { kind: 'stored', stored: { id: 1 } },
    { kind: 'failed', delivery: null, failure: { code: 'RangeError', message: 'on purpose' } },
    { kind: 'rejected', status: 401 },
    { kind: 'stored', stored: { id: 2 } },
  ]);
});
