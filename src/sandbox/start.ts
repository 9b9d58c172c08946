import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express } from 'express';
import { createSandboxApp } from './app.js';
import { createRegistry } from './parts/registry.js';
import { readSetting, writeSetting } from './store/settings.js';
import { openStore, type Store } from './store/store.js';
import { createWorld } from './world/create-world.js';
import { fillWorld } from './world/fill.js';
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
  const store = openStore({ file: join(folder, 'sandbox.db'), wall });
  const removeFolder = () => options.folder ?? rmSync(folder, { recursive: true, force: true });
  const { registry, server } = await open().catch((error: unknown) => {
    store.close();
    removeFolder();
    throw error;
  });
  const sweep = setInterval(() => store.accounts.endExpiredHolds(store.now()), 250);

  async function open() {
    prepareWorld(store, wall(), options);
    const parts = createRegistry({ store, prefix, wall, strict, asDocumented });
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

/** Once: a folder that holds a world goes on with it, and refuses to be called another. */
function prepareWorld(store: Store, startAt: number, { seed, world }: SandboxOptions): void {
  if (seed === undefined) return;
  const asked = JSON.stringify({ seed, ...world });
  const present = readSetting(store.db, 'world');
  if (present === undefined) {
    if (isInUse(store)) throw new Error(`${store.file} holds a registry that began without a world`);
    const made = createWorld({ seed, startAt, ...world });
    fillWorld(store.db, made, () => writeSetting(store.db, 'world', asked));
  } else if (present !== asked) {
    const held = typeof present === 'string' ? present : JSON.stringify(present);
    throw new Error(`${store.file} holds the world ${held}, not ${asked}`);
  }
}

function isInUse({ db }: Store): boolean {
  return db.prepare('select 1 from apps union all select 1 from organizations limit 1').get() !== undefined;
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
