import type { ConsoleActions } from '../console/actions/actions.js';
import type { SqlAccess } from '../console/ask/query-runner.js';
import { createConsole } from '../console/console.js';
import { type Compare, createComparison } from '../console/comparison.js';
import type { DemoAction } from '../console/demo/demo.js';
import { createVisitorKeys } from '../console/guard/keys.js';
import { createLiveUpdates } from '../console/live/updates.js';
import { createReaderPool } from '../console/reader-pool.js';
import type { OpenPdfs } from '../store/engine.js';
import type { PdfStore } from '../mirror/pdf-store.js';
import type { Inspected } from '../query/history/explanation.js';
import type { OpenReader } from '../store/contract/reader.js';
import type { InboxPort } from '../inbox/port.js';
import { readPulse } from '../query/inbox/activity.js';
import { type HttpListener, listenForPeople } from '../webhook/listen.js';
import { contradictedColumns } from '../sync/derived.js';
import { openInOrder } from './shutdown.js';
import { createConsoleActions } from './console-actions.js';
import { listenOnNextFreePort } from './next-free-port.js';
import { createProcessHealth, type RunningProcess, type ProcessDependencies } from './running-process.js';

export interface ConsoleStartOptions {
  readonly openReader: () => Promise<OpenReader>;
  readonly secret: Buffer;
  readonly port: number;
  /** A port that nobody asked for by name may be another one. */
  readonly mayUseNextPort: boolean;
  readonly hostNames: readonly string[];
  /** Null where the pages are to do nothing. */
  readonly openInbox: (() => Promise<InboxPort>) | null;
  /** Null where nobody here may ask the registry. */
  readonly compare: Compare | null;
  readonly webhookUrl: string | null;
  readonly version: string;
  readonly findSealedIn: (version: number) => Promise<string | null>;
  readonly sqlAccess: SqlAccess;
  readonly openPdfs: () => Promise<OpenPdfs>;
  readonly inspectPdf: (pdfs: PdfStore, file: string) => Promise<Inspected | null>;
  /** By what the pages ask for; null where the registry is no sandbox, or nothing is to be done. */
  readonly createDemoActions: ((actions: ConsoleActions) => readonly DemoAction[]) | null;
}

/** The browsers of one machine. */
const LOOPBACK = '127.0.0.1';

/** Pages over the mirror, on loopback. It reads, and writes nothing but what a person asks a worker for. */
export function startConsole(
  setup: ConsoleStartOptions,
  { log, now }: ProcessDependencies,
): Promise<RunningProcess> {
  return openInOrder(async shutdown => {
    const readers = createReaderPool(setup.openReader);
    shutdown.add(() => readers.close());
    const comparison = setup.compare === null ? null : createComparison(setup.compare, now);
    shutdown.add(async () => comparison?.stop());
    const look = async (): Promise<string> =>
      JSON.stringify([await readers.withReader(reader => readPulse(reader, now())), comparison?.getStatus()]);
    await look();
    const changes = createLiveUpdates({
      readState: look,
      onFailure: error => log.warn({ err: error }, 'whether anything has changed could not be read'),
    });
    const { pdfs, close } = await setup.openPdfs();
    shutdown.add(close);
    const actions = setup.openInbox === null ? null : createConsoleActions(setup.openInbox, log, comparison);
    const app = createConsole({
      readers,
      now,
      liveUpdates: changes,
      hostNames: setup.hostNames,
      actions,
      demoActions:
        actions === null || setup.createDemoActions === null ? null : setup.createDemoActions(actions),
      comparison,
      webhookUrl: setup.webhookUrl,
      version: setup.version,
      sql: setup.sqlAccess,
      certificateFiles: { openFile: pdfs.open, inspectFile: file => setup.inspectPdf(pdfs, file) },
      findContradictedColumns: contradictedColumns,
      describeCheckpoint: setup.findSealedIn,
      keys: createVisitorKeys({ secret: setup.secret, now }),
      port: () => listening.port,
      onFailure: error => log.error({ err: error }, 'a page could not be made'),
    });
    const open = (port: number): Promise<HttpListener> => listenForPeople(app, { host: LOOPBACK, port });
    const listening = await (setup.mayUseNextPort
      ? listenOnNextFreePort(setup.port, open)
      : open(setup.port));
    shutdown.add(() => listening.close());
    shutdown.add(() => changes.close());
    return {
      port: listening.port,
      operationsPort: null,
      failed: createProcessHealth().failed,
      stop: () => shutdown.close(),
    };
  });
}
