/**
 * The sandbox: a complete registry in this process, for the demo and for tests.
 *
 * `registry/` holds the rules of the registry, `http/` its endpoints, `webhooks/` its deliveries. `control/` is the control
 * API, which acts for people; `faults/` makes calls fail on purpose; `world/` generates data. All data are in memory
 * (`store/`): every change is an operation, which the journal records and a start replays.
 *
 * The sandbox must import nothing from the rest of the program: otherwise a wrong idea of the registry could be in both.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express } from 'express';
import { createControlClient } from './control/control-client.js';
import { createSandboxApp } from './app.js';
import { CALL_OPERATION, MAX_LOGGED_CALLS } from './http/call-log.js';
import { createSandboxRegistry } from './registry/registry.js';
import { openSandboxStore, type SandboxStore } from './store/store.js';
import type { MemoryTable } from './store/tables.js';
import { generateWorld } from './world/generate-world.js';
import type { WorldSpec } from './world/world-size.js';
import type { SandboxListener, SandboxOptions } from './options.js';
import type { Sandbox } from './sandbox.js';

export type { SandboxOptions } from './options.js';
export type { Sandbox } from './sandbox.js';

/**
 * How long an idle connection stays open. A busy machine delays callers less than this, so none sends into a closing
 * connection.
 */
const KEEP_ALIVE_MS = 60_000;
const EXPIRY_CHECK_MS = 250;

/** Starts a sandbox registry on a port, with the data of its journal or generated example data. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port, host = '127.0.0.1', headerPrefix = 'registry', strict = false } = options;
  const { wallClock = Date.now, installPageHosts = [], onUnexpectedError = reportUnexpectedError } = options;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'carbon-sandbox-'));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const store = openSandboxStore({ folder, wallClock });
  const { registry, listener } = await startRegistry().catch((error: unknown) => {
    store.close();
    removeTemporaryFolder();
    throw error;
  });
  const expiryTimer = setInterval(store.expireDueReservations, EXPIRY_CHECK_MS);

  /** Deletes the journal's folder unless the caller chose the folder. */
  function removeTemporaryFolder(): void {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }

  /**
   * Creates the registry, restores its data from the journal or generates example data, and starts the webhooks and the HTTP
   * server.
   */
  async function startRegistry() {
    const asDocumented = options.profile === 'as-documented';
    const parts = createSandboxRegistry({ store, headerPrefix, strict, asDocumented });
    const generateData = store.defineOperation('world', (seedAndSize: WorldSeedAndSize) =>
      generateExampleData(store, seedAndSize),
    );
    store.replayJournal({ [CALL_OPERATION]: MAX_LOGGED_CALLS });
    ensureExampleData(store, options, generateData);
    parts.deliveries.start();
    const app = createSandboxApp(parts, { headerPrefix, strict, installPageHosts }, onUnexpectedError);
    try {
      return { registry: parts, listener: await (options.listen ?? listenOnPort)(app, { host, port }) };
    } catch (error) {
      await parts.deliveries.close();
      throw error;
    }
  }

  const url = `http://${host.includes(':') ? `[${host}]` : host}:${listener.port}`;
  return {
    url,
    port: listener.port,
    folder,
    control: createControlClient(url),
    registry,
    /**
     * Stops the sandbox: closes the server, waits for webhooks that are being sent, closes the journal and deletes the folder if
     * it is temporary.
     */
    async close() {
      clearInterval(expiryTimer);
      await listener.close();
      await registry.deliveries.close();
      store.close();
      removeTemporaryFolder();
    },
  };
}

/** The seed and size of a generated world. They are stored so that a later start can compare them. */
type WorldSeedAndSize = Omit<WorldSpec, 'startAt'>;

/**
 * Generates example data if a seed is given and the registry is empty. Throws if the stored data were not generated with this
 * seed and size.
 */
function ensureExampleData(
  { tables, file }: SandboxStore,
  { seed, world }: SandboxOptions,
  generateData: (seedAndSize: WorldSeedAndSize) => void,
): void {
  // Without a seed, the sandbox starts with the data that its journal holds.
  if (seed === undefined) return;
  const requested = { seed, ...world };
  const stored = tables.settings.get('world')?.value;
  if (stored === undefined) {
    if (tables.apps.count() + tables.organizations.count() > 0)
      throw new Error(`${file} holds a registry that was created without a seed`);
    generateData(requested);
  } else if (JSON.stringify(stored) !== JSON.stringify(requested)) {
    throw new Error(`${file} holds the world ${JSON.stringify(stored)}, not ${JSON.stringify(requested)}`);
  }
}

/** Generates organizations, projects, credits and other example data, and stores them in the tables. */
function generateExampleData({ tables, wallClock }: SandboxStore, seedAndSize: WorldSeedAndSize): void {
  // The journal records only the seed and size, because a replay generates the same rows.
  const world = generateWorld({ ...seedAndSize, startAt: wallClock() });
  putAllRows(tables.apps, world.apps);
  putAllRows(tables.users, world.users);
  putAllRows(tables.organizations, world.organizations);
  putAllRows(tables.addresses, world.addresses);
  putAllRows(tables.projects, world.projects);
  putAllRows(tables.credits, world.credits);
  putAllRows(tables.holdings, world.holdings);
  putAllRows(tables.reservations, world.reservations);
  putAllRows(tables.requests, world.requests);
  putAllRows(tables.retirements, world.retirements);
  putAllRows(tables.transactions, world.transactions);
  tables.settings.put({ name: 'world', value: seedAndSize });
}

/** Inserts rows into a table. The rows stay even if the current operation fails. */
function putAllRows<Row>(table: Pick<MemoryTable<Row>, 'putWithoutUndo'>, rows: Iterable<Row>): void {
  for (const row of rows) table.putWithoutUndo(row);
}

/** Writes an unexpected error with its stack trace to stderr. */
function reportUnexpectedError(error: unknown): void {
  const description = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`sandbox: ${description}\n`);
}

/** Starts an HTTP server. Resolves when the server accepts connections, and rejects if the port is in use. */
function listenOnPort(
  app: Express,
  { host, port }: { host: string; port: number },
): Promise<SandboxListener> {
  return new Promise((resolve, reject) => {
    const server = app.listen(port, host, error => {
      if (error) return reject(error);
      const address = server.address();
      return resolve({
        port: typeof address === 'object' && address !== null ? address.port : port,
        close: () => {
          server.closeAllConnections();
          return new Promise(onClosed => server.close(() => onClosed()));
        },
      });
    });
    server.keepAliveTimeout = KEEP_ALIVE_MS;
  });
}
