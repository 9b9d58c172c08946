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
import { createSandboxApp } from './app.js';
import { CALL_OPERATION, MAX_LOGGED_CALLS } from './http/call-log.js';
import { createRegistry } from './registry/registry.js';
import { openStore, type SandboxStore } from './store/store.js';
import type { MemoryTable } from './store/tables.js';
import { generateWorld } from './world/generate-world.js';
import type { WorldSpec } from './world/world-size.js';
import type { SandboxListener, SandboxOptions } from './options.js';
import type { Sandbox } from './sandbox.js';

export type { SandboxOptions } from './options.js';
export type { Sandbox } from './sandbox.js';

/** Longer than a busy machine delays a caller, who would otherwise send into a connection that is being closed. */
const KEEP_ALIVE_MS = 60_000;
const EXPIRY_CHECK_MS = 250;

/**
 * Starts a sandbox: opens its journal, replays it, generates the world if there is none yet, and listens.
 * If one of these fails, everything that was opened is closed again.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port, host = '127.0.0.1', headerPrefix: prefix = 'registry', strict = false } = options;
  const { wallClock = Date.now, installPageHosts = [], onUnexpectedError = reportUnexpectedError } = options;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'carbon-sandbox-'));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const store = openStore({ folder, wallClock });
  const { registry, listener } = await openRegistry().catch((error: unknown) => {
    store.close();
    removeTemporaryFolder();
    throw error;
  });
  const expiryTimer = setInterval(store.expireDueReservations, EXPIRY_CHECK_MS);

  function removeTemporaryFolder(): void {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }

  /** Creates the registry, replays the journal, and starts the deliveries and the server. */
  async function openRegistry() {
    const asDocumented = options.profile === 'as-documented';
    const parts = createRegistry({ store, prefix, strict, asDocumented });
    const fill = store.defineOperation('world', (contents: WorldContents) => fillTables(store, contents));
    store.replayJournal({ [CALL_OPERATION]: MAX_LOGGED_CALLS });
    ensureWorld(store, options, fill);
    parts.deliveries.start();
    const app = createSandboxApp(parts, { prefix, strict, installPageHosts }, onUnexpectedError);
    try {
      return { registry: parts, listener: await (options.listen ?? listen)(app, { host, port }) };
    } catch (error) {
      await parts.deliveries.close();
      throw error;
    }
  }

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listener.port}`,
    port: listener.port,
    folder,
    registry,
    /** Stops the server, waits for running attempts to deliver webhooks, and closes the journal. */
    async close() {
      clearInterval(expiryTimer);
      await listener.close();
      await registry.deliveries.close();
      store.close();
      removeTemporaryFolder();
    },
  };
}

/** The seed and size of a world, which are stored so that a later start can compare them. */
type WorldContents = Omit<WorldSpec, 'startAt'>;

/**
 * Generates the world of the given seed, unless the registry holds it already. Throws if the registry holds another world,
 * or data without a world. Does nothing without a seed.
 */
function ensureWorld(
  { tables, file }: SandboxStore,
  { seed, world }: SandboxOptions,
  fill: (contents: WorldContents) => void,
): void {
  if (seed === undefined) return;
  const requested = { seed, ...world };
  const stored = tables.settings.get('world')?.value;
  if (stored === undefined) {
    if (tables.apps.count() + tables.organizations.count() > 0)
      throw new Error(`${file} holds a registry that was created without a seed`);
    fill(requested);
  } else if (JSON.stringify(stored) !== JSON.stringify(requested)) {
    throw new Error(`${file} holds the world ${JSON.stringify(stored)}, not ${JSON.stringify(requested)}`);
  }
}

/** Generates a world and stores it. The journal holds only its seed and size, because a replay generates the same rows. */
function fillTables({ tables, wallClock }: SandboxStore, contents: WorldContents): void {
  const world = generateWorld({ ...contents, startAt: wallClock() });
  putAll(tables.apps, world.apps);
  putAll(tables.users, world.users);
  putAll(tables.organizations, world.organizations);
  putAll(tables.addresses, world.addresses);
  putAll(tables.projects, world.projects);
  putAll(tables.credits, world.credits);
  putAll(tables.holdings, world.holdings);
  putAll(tables.reservations, world.reservations);
  putAll(tables.requests, world.requests);
  putAll(tables.retirements, world.retirements);
  putAll(tables.transactions, world.transactions);
  tables.settings.put({ name: 'world', value: contents });
}

function putAll<Row>(table: Pick<MemoryTable<Row>, 'putWithoutUndo'>, rows: Iterable<Row>): void {
  for (const row of rows) table.putWithoutUndo(row);
}

/** Writes an error of the sandbox itself, with its stack, to standard error. */
function reportUnexpectedError(error: unknown): void {
  const description = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`sandbox: ${description}\n`);
}

/** Listens on a port. Resolves when connections are accepted; rejects if the port is in use. */
function listen(app: Express, { host, port }: { host: string; port: number }): Promise<SandboxListener> {
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
