import type { Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Lets a server listen on a free port of this machine, and stops it after the test. Returns the port. */
export async function listenOnFreePort(
  server: Server & { readonly closeAllConnections?: () => void },
): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections?.();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('expected a server that listens');
  return address.port;
}
