import type { ConsoleActions } from '../console/actions/action-routes.js';
import type { SqlAccess } from '../console/sql/sql-runner.js';
import { createConsole } from '../console/console.js';
import { type RegistryComparer, createComparisonRunner } from '../console/registry-comparison.js';
import type { DemoAction } from '../console/demo/demo-page.js';
import type { ConsoleProxy } from '../console/guard/proxy-sign-in.js';
import { createVisitorKeys } from '../console/guard/visitor-keys.js';
import { createLiveUpdates } from '../console/live/live-updates.js';
import { createReaderPool } from '../console/reader-pool.js';
import type { OpenPdfs } from '../store/engine.js';
import type { PdfStore } from '../mirror/certificates/pdf-store.js';
import type { InspectedFile } from '../query/history/explanation.js';
import type { OpenReader } from '../store/contract/reader.js';
import type { InboxPort } from '../inbox/port.js';
import { readStateFingerprint } from '../query/inbox/activity.js';
import { type HttpListener, listenForPeople } from '../webhook/http-listener.js';
import { findContradictedColumns } from '../sync/derived-columns.js';
import { openWithCleanup } from './shutdown.js';
import { createConsoleActions } from './console-actions.js';
import { listenOnNextFreePort } from './next-free-port.js';
import { createProcessHealth, type RunningProcess, type ProcessDependencies } from './process-health.js';

export interface ConsoleStartOptions {
  readonly openReader: () => Promise<OpenReader>;
  /** Signs the sign-in keys of visitors. */
  readonly secret: Buffer;
  readonly port: number;
  /** Whether the next free port may be used if `port` is in use. It is for ports that the user did not choose. */
  readonly mayUseNextPort: boolean;
  readonly host: string;
  /** Null if visitors sign in with a link. */
  readonly proxy: ConsoleProxy | null;
  /** Further names by which a proxy calls the console. */
  readonly hostNames: readonly string[];
  /** Null makes the console read-only. */
  readonly openInbox: (() => Promise<InboxPort>) | null;
  /** Whether visitors who may act can place orders for the worker. */
  readonly allowsOrders: boolean;
  /** Null without credentials of the registry. */
  readonly compare: RegistryComparer | null;
  /** The URL to which the registry should send webhooks. The Help page shows it. */
  readonly webhookUrl: string | null;
  readonly version: string;
  /** Describes the seal of a row version. Returns null if there is no seal, or no access to the evidence log. */
  readonly describeSeal: (version: number) => Promise<string | null>;
  readonly sqlAccess: SqlAccess;
  readonly openPdfs: () => Promise<OpenPdfs>;
  readonly inspectPdf: (pdfs: PdfStore, file: string) => Promise<InspectedFile | null>;
  /** Creates the buttons of the demo page. Null if the registry is no sandbox or the console is read-only. */
  readonly createDemoActions: ((actions: ConsoleActions) => readonly DemoAction[]) | null;
}

/** Starts the web console. The console writes nothing except the jobs that visitors request. */
export function startConsole(
  options: ConsoleStartOptions,
  { log, now }: ProcessDependencies,
): Promise<RunningProcess> {
  return openWithCleanup(async shutdown => {
    const readers = createReaderPool(options.openReader);
    shutdown.add(() => readers.close());
    const comparison = options.compare === null ? null : createComparisonRunner(options.compare, now);
    shutdown.add(async () => comparison?.stop());
    const readFingerprint = async (): Promise<string> =>
      JSON.stringify([
        await readers.withReader(reader => readStateFingerprint(reader, now())),
        comparison?.getStatus(),
      ]);
    await readFingerprint();
    const changes = createLiveUpdates({
      readFingerprint,
      onFailure: error => log.warn({ err: error }, 'polling for changes failed'),
    });
    const { pdfs, close } = await options.openPdfs();
    shutdown.add(close);
    const actions =
      options.openInbox === null ? null : createConsoleActions(options.openInbox, log, comparison);
    const app = createConsole({
      readers,
      now,
      liveUpdates: changes,
      hostNames: options.hostNames,
      actions,
      allowsOrders: options.allowsOrders,
      demoActions:
        actions === null || options.createDemoActions === null
          ? null
          : options.createDemoActions(actions(null)),
      comparison,
      webhookUrl: options.webhookUrl,
      version: options.version,
      sql: options.sqlAccess,
      certificateFiles: { openFile: pdfs.open, inspectFile: file => options.inspectPdf(pdfs, file) },
      findContradictedColumns: findContradictedColumns,
      describeCheckpoint: options.describeSeal,
      keys: createVisitorKeys({ secret: options.secret, now }),
      proxySignIn: options.proxy?.signIn ?? null,
      port: () => listener.port,
      onFailure: error => log.error({ err: error }, 'page failed'),
    });
    const open = (port: number): Promise<HttpListener> => listenForPeople(app, { host: options.host, port });
    const listener = await (options.mayUseNextPort
      ? listenOnNextFreePort(options.port, open)
      : open(options.port));
    shutdown.add(() => listener.close());
    const socketListener = (await options.proxy?.listen(app)) ?? null;
    shutdown.add(async () => await socketListener?.close());
    shutdown.add(() => changes.close());
    return {
      port: listener.port,
      operationsPort: null,
      failed: createProcessHealth().failed,
      stop: () => shutdown.close(),
    };
  });
}
