/**
 * Creates a reader that requests pages before they are taken: from `firstPage` on, at most `width` at a time. Up to
 * twice as many may wait to be taken, so that one slow page does not delay the others. Requests no page until
 * `raiseLimit` allows it.
 */
export function createReadAhead<T>(
  width: number,
  firstPage: number,
  readPage: (pageNumber: number) => Promise<T>,
) {
  const requestedPages: Promise<T>[] = [];
  let pageLimit = 0;
  let nextPage = firstPage;
  let inFlight = 0;

  /** Requests the next pages, as many as `width` and the limit allow. */
  function requestPages(): void {
    while (inFlight < width && requestedPages.length < width * 2 && nextPage < pageLimit) {
      const page = readPage(nextPage);
      nextPage += 1;
      inFlight += 1;
      requestedPages.push(page);
      page.then(onPageRead, close);
    }
  }

  /** Requests further pages when a page has arrived. */
  function onPageRead(): void {
    inFlight -= 1;
    requestPages();
  }

  /** Stops requesting pages. */
  function close(): void {
    pageLimit = 0;
  }

  return {
    /** Allows the pages with numbers below the limit. A lower limit than before changes nothing. */
    raiseLimit(newLimit: number): void {
      pageLimit = Math.max(pageLimit, newLimit);
      requestPages();
    },
    /** Removes and returns the next page in order; undefined if it was not requested. */
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
