import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express } from 'express';
import { createSandboxApp } from './app.js';
import { CALL, KEPT_CALLS } from './http/calls.js';
import { createRegistry } from './registry/registry.js';
import { openStore, type Store } from './store/store.js';
import type { Table } from './store/tables.js';
import { createWorld } from './world/create-world.js';
import type { WorldSpec } from './world/plan.js';
import type { Listening, SandboxOptions } from './options.js';
import type { Sandbox } from './sandbox.js';

export type { SandboxOptions } from './options.js';
export type { Sandbox } from './sandbox.js';

/** Longer than a busy machine lets a caller wait, who would else send into a connection that is being closed. */
const IDLE_MS = 60_000;

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port, host = '127.0.0.1', headerPrefix: prefix = 'registry', strict = false } = options;
  const names = options.names ?? [];
  const asDocumented = options.profile === 'as-documented';
  const wall = options.wall ?? Date.now;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'carbon-sandbox-'));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const store = openStore({ folder, wall });
  const removeFolder = () => options.folder ?? rmSync(folder, { recursive: true, force: true });
  const { registry, server } = await open().catch((error: unknown) => {
    store.close();
    removeFolder();
    throw error;
  });
  const sweep = setInterval(store.endExpiredReservations, 250);

  async function open() {
    const parts = createRegistry({ store, prefix, strict, asDocumented });
    const fill = store.verb('world', (spec: Omit<WorldSpec, 'startAt'>) => fillWorld(store, spec));
    store.replay({ [CALL]: KEPT_CALLS });
    prepareWorld(store, options, fill);
    parts.deliveries.start();
    const app = createSandboxApp(parts, { prefix, strict, names }, options.onUnexpected ?? reportUnexpected);
    try {
      return { registry: parts, server: await (options.listen ?? listenHere)(app, { host, port }) };
    } catch (error) {
      await parts.deliveries.close();
      throw error;
    }
  }

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    port: server.port,
    folder,
    registry,
    async close() {
      clearInterval(sweep);
      await server.close();
      await registry.deliveries.close();
      store.close();
      removeFolder();
    },
  };
}

type Spec = Omit<WorldSpec, 'startAt'>;

/** Once: a folder that holds a world goes on with it, and refuses to be called another. */
function prepareWorld({ tables, file }: Store, { seed, world }: SandboxOptions, fill: (spec: Spec) => void) {
  if (seed === undefined) return;
  const asked = { seed, ...world };
  const present = tables.settings.get('world')?.value;
  if (present === undefined) {
    if (tables.apps.count() + tables.organizations.count() > 0)
      throw new Error(`${file} holds a registry that began without a world`);
    fill(asked);
  } else if (JSON.stringify(present) !== JSON.stringify(asked)) {
    throw new Error(`${file} holds the world ${JSON.stringify(present)}, not ${JSON.stringify(asked)}`);
  }
}

function fillWorld({ tables, wall }: Store, spec: Spec): void {
  const world = createWorld({ ...spec, startAt: wall() });
  load(tables.apps, world.apps);
  load(tables.users, world.users);
  load(tables.organizations, world.organizations);
  load(tables.addresses, world.addresses);
  load(tables.projects, world.projects);
  load(tables.credits, world.credits);
  load(tables.holdings, world.holdings);
  load(tables.reservations, world.reservations);
  load(tables.requests, world.requests);
  load(tables.retirements, world.retirements);
  load(tables.transactions, world.transactions);
  tables.settings.put({ name: 'world', value: spec });
}

function load<Row>(table: Pick<Table<Row>, 'load'>, rows: Iterable<Row>): void {
  for (const row of rows) table.load(row);
}

function reportUnexpected(error: unknown): void {
  process.stderr.write(
    `sandbox: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
}

function listenHere(app: Express, { host, port }: { host: string; port: number }): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = app.listen(port, host, error => {
      if (error) return reject(error);
      const address = server.address();
      return resolve({
        port: typeof address === 'object' && address !== null ? address.port : port,
        close: () => {
          server.closeAllConnections();
          return new Promise(closed => server.close(() => closed()));
        },
      });
    });
    server.keepAliveTimeout = IDLE_MS;
  });
}
