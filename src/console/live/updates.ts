import type { Response } from 'express';

export interface LiveUpdatesOptions {
  /** Returns a text that differs whenever anything that pages show has changed. */
  readonly readState: () => Promise<string>;
  readonly onFailure: (error: unknown) => void;
  readonly intervalMs?: number;
}

const POLL_INTERVAL_MS = 500;
/** Keeps proxies from closing an idle connection. */
const KEEP_ALIVE_MS = 20_000;
/** Open pages of one person; one more replaces the oldest. */
const MAX_PAGES = 100;

export type LiveUpdates = ReturnType<typeof createLiveUpdates>;

/** Tells open pages when something has changed. One poll serves all pages; without pages nothing is polled. */
export function createLiveUpdates({
  readState: look,
  onFailure: failed,
  intervalMs: everyMs = POLL_INTERVAL_MS,
}: LiveUpdatesOptions) {
  const pages = new Set<Response>();
  let seen: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  const breath = setInterval(() => broadcast(': still here\n\n'), KEEP_ALIVE_MS);
  breath.unref();

  const broadcast = (text: string): void => {
    for (const page of pages) page.write(text);
  };

  async function poll(): Promise<void> {
    try {
      const found = await look();
      if (seen !== null && found !== seen) broadcast('event: changed\ndata: {}\n\n');
      seen = found;
    } catch (error) {
      failed(error);
    }
    timer = pages.size > 0 ? setTimeout(() => void poll(), everyMs) : null;
    if (timer === null) seen = null;
  }

  return {
    /** Sends change events to one page until it disconnects. */
    follow: (response: Response): void => {
      const [oldest] = pages;
      if (oldest !== undefined && pages.size >= MAX_PAGES) oldest.end();
      pages.add(response);
      response.on('close', () => pages.delete(response));
      response.set('content-type', 'text/event-stream').flushHeaders();
      response.write('retry: 1000\n\n');
      timer ??= setTimeout(() => void poll(), 0);
    },
    close: (): void => {
      clearInterval(breath);
      if (timer !== null) clearTimeout(timer);
      for (const page of pages) page.end();
    },
  };
}
