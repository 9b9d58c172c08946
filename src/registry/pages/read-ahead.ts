/** Creates a reader that requests the next pages in advance. At most `maxConcurrent` requests run at the same time. */
export function createReadAhead<T>(
  maxConcurrent: number,
  firstPage: number,
  readPage: (pageNumber: number) => Promise<T>,
) {
  const requestedPages: Promise<T>[] = [];
  let pageLimit = 0;
  let nextPage = firstPage;
  let inFlight = 0;

  /** Requests the next pages, as far as `maxConcurrent` and the page limit allow. */
  function requestPages(): void {
    // More pages than `maxConcurrent` may wait to be taken, so that one slow page does not delay the others.
    while (inFlight < maxConcurrent && requestedPages.length < maxConcurrent * 2 && nextPage < pageLimit) {
      const page = readPage(nextPage);
      nextPage += 1;
      inFlight += 1;
      requestedPages.push(page);
      page.then(onPageRead, close);
    }
  }

  /** Records that a requested page has arrived, and requests further pages. */
  function onPageRead(): void {
    inFlight -= 1;
    requestPages();
  }

  /** Stops requesting pages. */
  function close(): void {
    pageLimit = 0;
  }

  return {
    /** Raises the page limit to `newLimit`, but never lowers it. Requests pages with numbers below the limit. */
    raiseLimit(newLimit: number): void {
      pageLimit = Math.max(pageLimit, newLimit);
      requestPages();
    },
    /** Removes and returns the next requested page, or returns undefined if there is none. Also requests further pages. */
    takeNext(): Promise<T> | undefined {
      const page = requestedPages.shift();
      requestPages();
      return page;
    },
    /** Returns the next page without removing it. */
    peekNext: (): Promise<T> | undefined => requestedPages[0],
    /** Stops requesting pages. */
    close,
  };
}
