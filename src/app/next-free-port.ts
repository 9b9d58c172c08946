const TRIES = 100;
const LAST_PORT = 65_535;

/** Listens on a port or, where another program has it, on the next one that is free. */
export async function listenOnNextFreePort<T>(
  first: number,
  listen: (port: number) => Promise<T>,
): Promise<T> {
  for (let port = first; ; port += 1) {
    try {
      return await listen(port);
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isTaken || port >= Math.min(first + TRIES, LAST_PORT)) throw error;
    }
  }
}
