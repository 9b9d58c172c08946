export interface GroupCommitOptions<Item, Result> {
  /** One transaction for all of them, one result for each. */
  readonly store: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly maxWaiting?: number;
  /** How many transactions at once: one disk has one flush at a time, a server far away is waited for. */
  readonly groupsAtOnce?: number;
}

/** By its code: closed, too_many_waiting or no_result. */
export class NotStoredError extends Error {
  override readonly name = 'NotStoredError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** More than this is not stored and answered within a second. */
const MAX_WAITING = 5000;
const MAX_GROUP = 512;

/** A group of this size is worth its flush: it leaves at once, while the next is still being read. */
const EARLY_GROUP = 32;

/** So long a smaller one waits to grow while another is under way: that one may be waiting for a lock. */
const GROWS_MS = 10;

interface Queued<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: NotStoredError) => void;
}

/**
 * What arrives together shares one transaction, and with it one flush to disk.
 * The slower the disk, the more of them are in a group.
 */
export function createGroupCommit<Item, Result>({
  store,
  maxWaiting = MAX_WAITING,
  groupsAtOnce = 1,
}: GroupCommitOptions<Item, Result>) {
  let queued: Queued<Item, Result>[] = [];
  let underWay = 0;
  let groupsUnderWay = 0;
  let closed = false;
  let drained: (() => void) | null = null;
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
    underWay += group.length;
    groupsUnderWay += 1;
    void commitGroup(group, store).then(() => {
      underWay -= group.length;
      groupsUnderWay -= 1;
      sendGroup();
      return underWay === 0 ? drained?.() : undefined;
    });
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
    /** Resolves with the item's result once its group has been stored; rejects when that was not tried. */
    accept: (item: Item) =>
      new Promise<Result>((resolve, reject) => {
        if (closed) return reject(new NotStoredError('closed', 'the inbox is closed'));
        if (queued.length + underWay >= maxWaiting) {
          return reject(new NotStoredError('too_many_waiting', `${maxWaiting} posts wait to be stored`));
        }
        queued.push({ item, resolve, reject });
        if (queued.length === 1) setImmediate(sendGroup);
        else if (queued.length >= EARLY_GROUP) sendGroup();
      }),
    /** Refuse from now on, and store what waits. */
    close: () => {
      closed = true;
      return new Promise<void>(resolve => {
        drained = resolve;
        sendGroup();
        if (underWay === 0) resolve();
      });
    },
    /** Items whose result is not yet known. */
    waiting: () => queued.length + underWay,
  };
}

async function commitGroup<Item, Result>(
  group: readonly Queued<Item, Result>[],
  store: GroupCommitOptions<Item, Result>['store'],
): Promise<void> {
  try {
    const results = await store(group.map(({ item }) => item));
    group.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result === undefined) reject(new NotStoredError('no_result', 'expected one result for each post'));
      else resolve(result);
    });
  } catch (cause) {
    const error = new NotStoredError('no_result', 'the posts could not be handed over', { cause });
    for (const { reject } of group) reject(error);
  }
}
