const MAX_ATTEMPTS = 100;
const LAST_PORT = 65_535;

/**
 * Calls `listen` with `firstPort`, then with the following ports while each is in use. Throws the last error after 100 more
 * ports.
 */
export async function listenOnNextFreePort<T>(
  firstPort: number,
  listen: (port: number) => Promise<T>,
): Promise<T> {
  for (let port = firstPort; ; port += 1) {
    try {
      return await listen(port);
    } catch (error) {
      const isInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isInUse || port >= Math.min(firstPort + MAX_ATTEMPTS, LAST_PORT)) throw error;
    }
  }
}
