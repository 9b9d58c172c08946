import type { Response } from 'express';

export interface ChangesOptions {
  /** Says something else whenever anything that a page shows has changed. */
  readonly look: () => Promise<string>;
  readonly failed: (error: unknown) => void;
  readonly everyMs?: number;
}

const EVERY_MS = 500;
/** So that a proxy between us does not take the silence for the end. */
const BREATH_MS = 20_000;
/** Pages of one person; the next one takes the place of the oldest. */
const MAX_PAGES = 100;

export type Changes = ReturnType<typeof createChanges>;

/** One look for all pages that are open, and none where none is. */
export function createChanges({ look, failed, everyMs = EVERY_MS }: ChangesOptions) {
  const pages = new Set<Response>();
  let seen: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  const breath = setInterval(() => tell(': still here\n\n'), BREATH_MS);
  breath.unref();

  const tell = (text: string): void => {
    for (const page of pages) page.write(text);
  };

  async function lookAgain(): Promise<void> {
    try {
      const found = await look();
      if (seen !== null && found !== seen) tell('event: changed\ndata: {}\n\n');
      seen = found;
    } catch (error) {
      failed(error);
    }
    timer = pages.size > 0 ? setTimeout(() => void lookAgain(), everyMs) : null;
    if (timer === null) seen = null;
  }

  return {
    /** Keeps telling one page until it goes. */
    follow: (response: Response): void => {
      const [oldest] = pages;
      if (oldest !== undefined && pages.size >= MAX_PAGES) oldest.end();
      pages.add(response);
      response.on('close', () => pages.delete(response));
      response.set('content-type', 'text/event-stream').flushHeaders();
      response.write('retry: 1000\n\n');
      timer ??= setTimeout(() => void lookAgain(), 0);
    },
    close: (): void => {
      clearInterval(breath);
      if (timer !== null) clearTimeout(timer);
      for (const page of pages) page.end();
    },
  };
}
