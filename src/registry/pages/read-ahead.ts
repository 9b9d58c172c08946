/**
 * Asks for pages by their numbers from `first` on, `width` of them at once.
 * Twice as many may wait to be taken, so that one slow page does not hold up the others.
 */
export function createReadAhead<T>(width: number, first: number, read: (number: number) => Promise<T>) {
  const waiting: Promise<T>[] = [];
  let allowed = 0;
  let next = first;
  let inFlight = 0;

  function ask(): void {
    while (inFlight < width && waiting.length < width * 2 && next < allowed) {
      const page = read(next);
      next += 1;
      inFlight += 1;
      waiting.push(page);
      page.then(arrived, close);
    }
  }

  function arrived(): void {
    inFlight -= 1;
    ask();
  }

  function close(): void {
    allowed = 0;
  }

  return {
    /** Pages below this number may be asked for from now on. */
    allow(pages: number): void {
      allowed = Math.max(allowed, pages);
      ask();
    },
    /** The next page in order, if it was asked for. */
    take(): Promise<T> | undefined {
      const page = waiting.shift();
      ask();
      return page;
    },
    /** The same, left where it is. */
    look: (): Promise<T> | undefined => waiting[0],
    /** No further page is asked for. */
    close,
  };
}
