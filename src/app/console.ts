import { createConsole } from '../console/console.js';
import { createKeys } from '../console/guard/keys.js';
import { listen, type Listening } from '../console/listen.js';
import { createChanges } from '../console/live/changes.js';
import { createReaders } from '../console/readers.js';
import type { OpenReader } from '../engines/contract/reader.js';
import { readPulse } from '../query/pulse.js';
import { openAll } from './closing.js';
import { listenFrom } from './next-port.js';
import { createHealth, type Running, type Tools } from './running.js';

export interface ConsoleSetup {
  readonly openReader: () => Promise<OpenReader>;
  readonly secret: Buffer;
  readonly port: number;
  /** A port that nobody asked for by name may be another one. */
  readonly orNextPort: boolean;
  readonly names: readonly string[];
}

/** Pages over the mirror, on loopback. It reads, and writes nothing. */
export function startConsole(setup: ConsoleSetup, { log, now }: Tools): Promise<Running> {
  return openAll(async closing => {
    const readers = createReaders(setup.openReader);
    closing.add(() => readers.close());
    await readers.use(readPulse);
    const changes = createChanges({
      look: () => readers.use(readPulse),
      failed: error => log.warn({ err: error }, 'whether anything has changed could not be read'),
    });
    const app = createConsole({
      readers,
      now,
      changes,
      names: setup.names,
      keys: createKeys({ secret: setup.secret, now }),
      port: () => listening.port,
      failed: error => log.error({ err: error }, 'a page could not be made'),
    });
    const open = (port: number): Promise<Listening> => listen(app, port);
    const listening = await (setup.orNextPort ? listenFrom(setup.port, open) : open(setup.port));
    closing.add(() => listening.close());
    closing.add(() => changes.close());
    return {
      port: listening.port,
      operationsPort: null,
      failed: createHealth().failed,
      stop: () => closing.close(),
    };
  });
}
