import { describeFailure } from '../inbox/delivery.js';
import { failed, NO_RESULT, type WebhookPost, type PostEnd } from './posts.js';

interface GroupCommitOptions {
  /** One transaction for all of them, one outcome for each. */
  readonly store: (posts: readonly WebhookPost[]) => Promise<readonly PostEnd[]>;
  readonly maxWaiting?: number;
  /** How many transactions at once: one disk has one flush at a time, a server far away is waited for. */
  readonly groupsAtOnce?: number;
}

/** More than this is not stored and answered within a second. */
const MAX_WAITING = 5000;
/** 512 of the largest posts. Nothing is known of a post yet: however many connections are full of forged ones, memory is not. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_GROUP = 512;

/** A group of this size is worth its flush: it leaves at once, while the next is still being read. */
const EARLY_GROUP = 32;

/** So long a smaller one waits to grow while another is under way: that one may be waiting for a lock. */
const GROWS_MS = 10;

const CLOSED = failed({ code: 'closed', message: 'the inbox is closed' });
const TOO_MANY = failed({ code: 'too_many_waiting', message: 'too many posts wait to be stored' });

interface Queued {
  readonly post: WebhookPost;
  readonly answer: (end: PostEnd) => void;
}

/**
 * What arrives together shares one transaction, and with it one flush to disk.
 * The slower the disk, the more of them are in a group.
 */
export function createGroupCommit({ store, maxWaiting = MAX_WAITING, groupsAtOnce = 1 }: GroupCommitOptions) {
  let queued: Queued[] = [];
  let waiting = 0;
  let bytes = 0;
  let groupsUnderWay = 0;
  let closed = false;
  let drained: (() => void) | undefined;
  let growing: NodeJS.Timeout | undefined;

  /** What arrives while as many groups as may be are flushed is the next. */
  function sendGroup(hasGrown = closed || groupsUnderWay === 0 || queued.length >= EARLY_GROUP): void {
    if (queued.length === 0 || groupsUnderWay >= groupsAtOnce) return;
    if (!hasGrown) {
      growing ??= setTimeout(sendGrown, GROWS_MS);
      return;
    }
    stopGrowing();
    const group = queued.slice(0, MAX_GROUP);
    queued = queued.slice(MAX_GROUP);
    groupsUnderWay += 1;
    void commit(group);
  }

  async function commit(group: readonly Queued[]): Promise<void> {
    const ends = await store(group.map(({ post }) => post)).catch((error: unknown) =>
      group.map(() => failed(describeFailure(error))),
    );
    group.forEach(({ post, answer }, index) => {
      bytes -= post.body.length;
      answer(ends[index] ?? failed(NO_RESULT));
    });
    waiting -= group.length;
    groupsUnderWay -= 1;
    sendGroup();
    if (waiting === 0) drained?.();
  }

  function sendGrown(): void {
    stopGrowing();
    sendGroup(true);
  }

  function stopGrowing(): void {
    clearTimeout(growing);
    growing = undefined;
  }

  return {
    /** Resolves with how it ended once its group has been stored, at once where it is not taken. */
    accept: (post: WebhookPost) =>
      new Promise<PostEnd>(answer => {
        if (closed) return answer(CLOSED);
        if (waiting >= maxWaiting || bytes + post.body.length > MAX_BYTES) return answer(TOO_MANY);
        waiting += 1;
        bytes += post.body.length;
        queued.push({ post, answer });
        if (queued.length === 1) setImmediate(sendGroup);
        else if (queued.length >= EARLY_GROUP) sendGroup();
      }),
    /** Refuse from now on, and store what waits. */
    close: () => {
      closed = true;
      return new Promise<void>(resolve => {
        drained = resolve;
        if (waiting === 0) resolve();
      });
    },
  };
}
