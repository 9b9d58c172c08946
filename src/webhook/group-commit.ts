import { toStoreFailure } from '../inbox/delivery.js';
import { createFailedResult, MISSING_RESULT, type PostResult, type WebhookPost } from './post-handler.js';

interface GroupCommitOptions {
  /** Stores a batch in one transaction. Returns one result for each post, in order. */
  readonly store: (posts: readonly WebhookPost[]) => Promise<readonly PostResult[]>;
  readonly maxWaiting?: number;
  /** How many transactions may run at once. A local disk flushes one at a time; a remote server has latency to fill. */
  readonly concurrentCommits?: number;
}

/** Above this many waiting posts the receiver answers 503: they could not be stored within a second. */
const MAX_WAITING_POSTS = 5000;
/** Room for 512 of the largest posts. Posts are unverified here, so forged ones must not exhaust memory. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
const MAX_BATCH_SIZE = 512;

/** A batch this large is worth a flush of its own: commit it at once. */
const EAGER_BATCH_SIZE = 32;
/** How long a smaller batch may grow while another commit is in flight, which may be waiting for a lock. */
const MAX_GROW_MS = 10;

const CLOSED = createFailedResult({ code: 'closed', message: 'the inbox is closed' });
const TOO_MANY = createFailedResult({
  code: 'too_many_waiting',
  message: 'too many posts wait to be stored',
});

/** A post that waits to be stored, and the function that resolves its promise. */
interface QueuedPost {
  readonly post: WebhookPost;
  readonly resolve: (result: PostResult) => void;
}

/** Creates a queue that stores webhook posts in batches. The posts of a batch share one transaction and one flush to disk. */
export function createGroupCommit({
  store,
  maxWaiting = MAX_WAITING_POSTS,
  concurrentCommits = 1,
}: GroupCommitOptions) {
  let queue: QueuedPost[] = [];
  /** Posts that are queued or being committed, and the bytes of their bodies. */
  let waitingPosts = 0;
  let waitingBytes = 0;
  let commitsInFlight = 0;
  let isClosed = false;
  let onDrained: (() => void) | undefined;
  let growTimer: NodeJS.Timeout | undefined;

  /** Starts to commit the next batch of posts, unless too many commits are running. A small batch first waits for more posts. */
  function commitNextBatch(): void {
    if (queue.length === 0 || commitsInFlight >= concurrentCommits) return;
    const mayGrow = !isClosed && commitsInFlight > 0 && queue.length < EAGER_BATCH_SIZE;
    if (mayGrow) growTimer ??= setTimeout(commitAfterWait, MAX_GROW_MS);
    else startCommit();
  }

  /** Called by the timer. Starts to commit the batch that waited for more posts, unless too many commits are running. */
  function commitAfterWait(): void {
    growTimer = undefined;
    if (queue.length > 0 && commitsInFlight < concurrentCommits) startCommit();
  }

  /** Takes the next batch of posts from the queue and starts to commit it. Does not wait for the commit. */
  function startCommit(): void {
    clearTimeout(growTimer);
    growTimer = undefined;
    const batch = queue.slice(0, MAX_BATCH_SIZE);
    queue = queue.slice(MAX_BATCH_SIZE);
    commitsInFlight += 1;
    void commitBatch(batch);
  }

  /**
   * Stores a batch of posts in one transaction and resolves the promise of each post with its result. Then commits the next
   * batch.
   */
  async function commitBatch(batch: readonly QueuedPost[]): Promise<void> {
    const results = await store(batch.map(({ post }) => post)).catch((error: unknown) =>
      batch.map(() => createFailedResult(toStoreFailure(error))),
    );
    batch.forEach(({ post, resolve }, index) => {
      waitingBytes -= post.body.length;
      resolve(results[index] ?? createFailedResult(MISSING_RESULT));
    });
    waitingPosts -= batch.length;
    commitsInFlight -= 1;
    commitNextBatch();
    if (waitingPosts === 0) onDrained?.();
  }

  return {
    /** Queues a post. Resolves with the result after the commit, or at once if the post is refused. */
    accept: (post: WebhookPost) =>
      new Promise<PostResult>(resolve => {
        if (isClosed) return resolve(CLOSED);
        const exceedsMemory = waitingBytes + post.body.length > MAX_WAITING_BYTES;
        if (waitingPosts >= maxWaiting || exceedsMemory) return resolve(TOO_MANY);
        waitingPosts += 1;
        waitingBytes += post.body.length;
        queue.push({ post, resolve });
        // Posts that arrive in the same turn of the event loop join the first one's batch.
        if (queue.length === 1) setImmediate(commitNextBatch);
        else if (queue.length >= EAGER_BATCH_SIZE) commitNextBatch();
      }),
    /** Refuses further posts and resolves once all waiting posts were committed. */
    close: () => {
      isClosed = true;
      return new Promise<void>(resolve => {
        onDrained = resolve;
        if (waitingPosts === 0) resolve();
      });
    },
  };
}
