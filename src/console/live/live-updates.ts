import type { Response } from 'express';

export interface LiveUpdatesOptions {
  /** Returns a text that differs whenever anything that pages show has changed. */
  readonly readFingerprint: () => Promise<string>;
  readonly onFailure: (error: unknown) => void;
  readonly intervalMs?: number;
}

const POLL_INTERVAL_MS = 500;
/** Keeps proxies from closing an idle connection. */
const KEEP_ALIVE_MS = 20_000;
/** Open pages of one person; one more replaces the oldest. */
const MAX_PAGES = 100;

export type LiveUpdates = ReturnType<typeof createLiveUpdates>;

/** Creates an object that sends an event to every open page when the result of `readFingerprint` changes. */
export function createLiveUpdates({
  readFingerprint,
  onFailure,
  intervalMs = POLL_INTERVAL_MS,
}: LiveUpdatesOptions) {
  const pages = new Set<Response>();
  let lastState: string | null = null;
  let pollTimer: NodeJS.Timeout | null = null;
  const keepAliveTimer = setInterval(() => broadcast(': keep-alive\n\n'), KEEP_ALIVE_MS);
  keepAliveTimer.unref();

  const broadcast = (text: string): void => {
    for (const page of pages) page.write(text);
  };

  /** Sends an event to all open pages if the state has changed. Schedules the next poll while any page is open. */
  async function pollForChanges(): Promise<void> {
    try {
      const state = await readFingerprint();
      if (lastState !== null && state !== lastState) broadcast('event: changed\ndata: {}\n\n');
      lastState = state;
    } catch (error) {
      onFailure(error);
    }
    // The state is only read while a page is open.
    pollTimer = pages.size > 0 ? setTimeout(() => void pollForChanges(), intervalMs) : null;
    if (pollTimer === null) lastState = null;
  }

  return {
    /** Sends change events to one page until it disconnects. */
    subscribe: (response: Response): void => {
      const [oldest] = pages;
      if (oldest !== undefined && pages.size >= MAX_PAGES) oldest.end();
      pages.add(response);
      response.on('close', () => pages.delete(response));
      response.set('content-type', 'text/event-stream').flushHeaders();
      response.write('retry: 1000\n\n');
      pollTimer ??= setTimeout(() => void pollForChanges(), 0);
    },
    /** Ends all event streams and stops polling. */
    close: (): void => {
      clearInterval(keepAliveTimer);
      if (pollTimer !== null) clearTimeout(pollTimer);
      for (const page of pages) page.end();
    },
  };
}
