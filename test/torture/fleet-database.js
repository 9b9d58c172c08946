// The database of the fleet: PostgreSQL behind PgBouncer in transaction mode, and before both a proxy that can cut connections.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { portOf } from '../bench/parts/registry.js';

/** @import { Socket } from 'node:net' */
/** @import { StartedServer } from '../postgres/server.js' */

/** PgBouncer refuses to run as root, so it runs as the user that owns nothing. */
const NOBODY = 65_534;
const RUN_AS = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const STARTS_WITHIN_MS = 30_000;

export function hasPgBouncer() {
  return spawnSync('pgbouncer', ['--version']).status === 0;
}

/**
 * Starts PgBouncer in front of a server, if it is installed, and a proxy in front of that. `port` belongs to the proxy.
 * @param {StartedServer} postgres
 * @param {string} folder
 */
export async function startDatabase(postgres, folder) {
  const { server } = postgres;
  if ('missing' in server) throw new Error(`this test needs PostgreSQL: ${server.missing}`);
  const pooler = hasPgBouncer() ? await startPooler(server, folder) : null;
  const proxy = await startProxy(pooler?.socket ?? socketOf(server));
  return {
    port: proxy.port,
    hasPooler: pooler !== null,
    cutConnections: proxy.cut,
    /** Kills the server, as a power cut would, and starts it again after a while. */
    crash: async () => {
      await postgres.kill();
      await sleep(500 + Math.random() * 3_000);
      const again = await postgres.start();
      if ('missing' in again) throw new Error(`PostgreSQL did not start again: ${again.missing}`);
    },
    restartPooler: async () => pooler?.restart(),
    stop: async () => {
      proxy.close();
      await pooler?.stop();
    },
  };
}

/** @param {{ host: string, port: number }} server */
function socketOf({ host, port }) {
  return join(host, `.s.PGSQL.${port}`);
}

/**
 * @param {{ host: string, port: number }} server
 * @param {string} parent
 */
async function startPooler({ host, port }, parent) {
  const folder = join(parent, 'pgbouncer');
  mkdirSync(folder);
  for (const each of [parent, folder]) chmodSync(each, 0o755);
  if (RUN_AS.uid !== undefined) chownSync(folder, RUN_AS.uid, RUN_AS.gid);
  const config = join(folder, 'pgbouncer.ini');
  const settings = {
    listen_addr: '',
    listen_port: 6432,
    unix_socket_dir: folder,
    auth_type: 'any',
    pool_mode: 'transaction',
    max_client_conn: 500,
    default_pool_size: 20,
    logfile: join(folder, 'log'),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(
    config,
    `[databases]\n* = host=${host} port=${port} user=postgres\n[pgbouncer]\n${lines.join('\n')}\n`,
  );
  const socket = join(folder, '.s.PGSQL.6432');
  const start = async () => {
    const child = spawn('pgbouncer', ['--quiet', config], { ...RUN_AS, cwd: folder, stdio: 'ignore' });
    await waitForSocket(socket);
    return child;
  };
  let child = await start();
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    socket,
    stop,
    restart: async () => {
      await stop();
      child = await start();
    },
  };
}

/** @param {string} path */
async function waitForSocket(path) {
  const deadline = performance.now() + STARTS_WITHIN_MS;
  for (;;) {
    const socket = connect(path);
    const isOpen = await new Promise(resolve => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    if (performance.now() > deadline) throw new Error('PgBouncer did not start within 30 seconds');
    await sleep(50);
  }
}

/**
 * Passes connections on to a Unix socket. `cut` destroys about half of them, even while they are sending.
 * @param {string} target
 */
async function startProxy(target) {
  /** @type {Set<Socket>} */
  const clients = new Set();
  const server = createServer(client => {
    const upstream = connect(target);
    const end = () => {
      clients.delete(client);
      client.destroy();
      upstream.destroy();
    };
    clients.add(client);
    for (const each of [client, upstream]) each.on('error', end).on('close', end);
    client.pipe(upstream).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: portOf(server),
    cut: () => {
      for (const client of clients) if (Math.random() < 0.5) client.destroy();
    },
    close: () => {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}
