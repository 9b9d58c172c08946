import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createGroupCommit } from '../../src/webhook/group-commit.js';
import { createFailedResult, type WebhookPost, type PostResult } from '../../src/webhook/post-handler.js';
import { holdLock } from '../support/held-locks.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { createLocalAccept, genuinePost } from '../support/receiver.js';

/** A store on a real inbox that records the sizes of the batches. */
function createRecordingStore() {
  const db = temporaryInbox();
  const accept = createLocalAccept(db);
  const batches: number[] = [];
  const store = (posts: readonly WebhookPost[]): Promise<readonly PostResult[]> => {
    batches.push(posts.length);
    return accept(posts);
  };
  const stored = () => db.prepare('SELECT count(*) FROM deliveries').pluck().get();
  return { db, store, batches, stored };
}

const createPosts = (count: number): WebhookPost[] =>
  Array.from({ length: count }, (_, nonce) => genuinePost({ nonce }));

/** A group commit whose batches stay in flight until the test ends them by index. */
function createHeldCommits(concurrentCommits?: number) {
  const sizes: number[] = [];
  const ends: (() => void)[] = [];
  const commits = createGroupCommit({
    ...(concurrentCommits === undefined ? {} : { concurrentCommits }),
    store: async batch => {
      sizes.push(batch.length);
      await new Promise<void>(resolve => ends.push(resolve));
      return batch.map(({ receivedAt }) => ({
        kind: 'rejected',
        reason: 'signature_not_valid',
        status: 401,
        detail: String(receivedAt),
      }));
    },
  });
  const answers: Promise<PostResult>[] = [];
  const accept = async (count: number, body = new Uint8Array()): Promise<void> => {
    for (let post = 0; post < count; post += 1)
      answers.push(commits.accept({ body, signature: null, receivedAt: answers.length }));
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  };
  return { commits, accept, answers, sizes, ends };
}

describe('posts that arrive together', () => {
  test('share few transactions, and each resolves with its own row', async () => {
    const { store, batches, stored } = createRecordingStore();
    const commits = createGroupCommit({ store });
    const ends = await Promise.all(createPosts(100).map(commits.accept));
    expect(new Set(ends.map(end => end.kind === 'stored' && end.stored.id)).size).toBe(100);
    expect(batches.length).toBeLessThanOrEqual(3);
    expect(stored()).toBe(100);
  });

  test('are stored in as many concurrent transactions as allowed, and the rest in the next one', async () => {
    const { commits, accept, answers, sizes, ends } = createHeldCommits(2);
    await accept(1);
    await accept(32);
    await accept(3);
    expect(sizes).toEqual([1, 32]);
    const closed = commits.close();
    ends[1]?.();
    await expect.poll(() => sizes).toEqual([1, 32, 3]);
    for (const end of ends) end();
    expect(await Promise.all(answers)).toMatchObject(answers.map((_, index) => ({ detail: String(index) })));
    await closed;
  });

  test('wait for more while another commit is in flight, but not until it ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { commits, accept, sizes, ends } = createHeldCommits(2);
    await accept(1);
    await accept(20);
    await accept(11);
    expect(sizes).toEqual([1]);
    await accept(1);
    expect(sizes).toEqual([1, 32]);
    ends[1]?.();
    await accept(1);
    expect(sizes).toEqual([1, 32]);
    vi.runOnlyPendingTimers();
    expect(sizes).toEqual([1, 32, 1]);
    await accept(4);
    ends[0]?.();
    ends[2]?.();
    await expect.poll(() => sizes).toEqual([1, 32, 1, 4]);
    ends[3]?.();
    await commits.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('resolve after their transaction ended, and by default one transaction runs at a time', async () => {
    const { accept, answers, sizes, ends } = createHeldCommits();
    let isAnswered = false;
    await accept(1);
    void answers[0]?.then(() => (isAnswered = true));
    await accept(40);
    expect([isAnswered, sizes]).toEqual([false, [1]]);
    ends[0]?.();
    await accept(0);
    expect([isAnswered, sizes]).toEqual([true, [1, 40]]);
  });

  test('are stored although one of them cannot be', async () => {
    const { db, store, stored } = createRecordingStore();
    db.exec(`CREATE TRIGGER bad BEFORE INSERT ON deliveries WHEN new.event = 'bad'
      BEGIN SELECT raise(ABORT, 'on purpose'); END`);
    const commits = createGroupCommit({ store });
    const group = ['installed', 'bad', 'suspended'].map(event => genuinePost({ event }));
    expect(await Promise.all(group.map(commits.accept))).toMatchObject([
      { kind: 'stored', stored: { id: 1, jobId: 1, isDuplicate: false } },
      { kind: 'failed', delivery: { event: 'bad' }, failure: { message: 'on purpose' } },
      { kind: 'stored', stored: { id: 2, jobId: 1, isDuplicate: false } },
    ]);
    expect(stored()).toBe(2);
  });

  test.each([
    [5000, 0],
    [512, 65_536],
  ])('T15 are limited to 5,000 posts and 32 MB until they are stored', async (limit, size) => {
    const { accept, answers, sizes, ends } = createHeldCommits(1);
    await accept(limit + 1, new Uint8Array(size));
    expect(await answers.at(-1)).toMatchObject({ kind: 'failed', failure: { code: 'too_many_waiting' } });
    for (let group = 0; group < sizes.length; group += 1) {
      ends[group]?.();
      await accept(0);
    }
    expect(new Set((await Promise.all(answers.slice(0, limit))).map(({ kind }) => kind))).toEqual(
      new Set(['rejected']),
    );
    await accept(1, new Uint8Array(size));
    ends.at(-1)?.();
    expect(await answers.at(-1)).toMatchObject({ kind: 'rejected' });
  });

  test('are all stored before a close resolves, and none is accepted after it', async () => {
    const { store, stored } = createRecordingStore();
    const commits = createGroupCommit({ store });
    const accepting = Promise.all(createPosts(10).map(commits.accept));
    await commits.close();
    expect(stored()).toBe(10);
    expect(await commits.accept(genuinePost())).toMatchObject({ failure: { code: 'closed' } });
    expect(await accepting).toHaveLength(10);
    await commits.close();
  });

  test('fail if nothing can be stored or no result comes back', async () => {
    const ended = createGroupCommit({ store: () => Promise.reject(new Error('the thread has ended')) });
    const message = 'the thread has ended';
    expect(await ended.accept(genuinePost())).toEqual(createFailedResult({ code: 'Error', message }));
    const silent = createGroupCommit({ store: async () => [] });
    expect(await silent.accept(genuinePost())).toMatchObject({ failure: { code: 'no_result' } });
  });
});

test('all waiting deliveries share one wait for a locked database', async () => {
  const folder = temporaryFolder();
  const db = temporaryInbox(folder);
  onTestFinished(holdLock(db.name));
  let transactions = 0;
  const exec = db.exec.bind(db);
  db.exec = sql => {
    if (sql.startsWith('BEGIN')) transactions += 1;
    return exec(sql);
  };
  const ends = await createLocalAccept(db)(createPosts(3));
  expect(transactions).toBe(1);
  expect(ends).toMatchObject(
    createPosts(3).map(() => ({ kind: 'failed', failure: { code: 'SQLITE_BUSY' } })),
  );
});
