// Starts a console, signs in, and measures what a browser receives from it.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { MAIN, start } from './children.js';

/** The paths of the first page, its style and its script. */
export const FIRST_PAGE = ['/', '/console.css', '/console.js'];

/**
 * Starts a console, signs in with the address that it prints, and returns functions that visit its pages.
 * @param {string} dataDir
 * @param {{ url: string } | null} [database]
 */
export async function openConsole(dataDir, database = null) {
  const databaseEnv = database === null ? {} : { MIRROR_DATABASE_URL: database.url };
  const env = { DATA_DIR: dataDir, CONSOLE_PORT: '0', ...databaseEnv };
  const child = start([MAIN, 'console', '--no-address'], { env, stdio: 'ignore' });
  while (!existsSync(join(dataDir, 'console.json'))) await new Promise(resolve => setTimeout(resolve, 10));
  const address = execFileSync(process.execPath, [MAIN, 'console', 'url'], { env, encoding: 'utf8' }).trim();
  const { headers } = await fetch(address, { redirect: 'manual' });
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  const { origin } = new URL(address);
  /** No connection is kept: the console would close an idle one while bare queries block this process. */
  const requestHeaders = { cookie, connection: 'close' };
  return {
    pid: child.pid,
    /** @type {(path: string, options?: RequestInit) => Promise<Response>} */
    open: (path, options) => fetch(origin + path, { ...options, headers: requestHeaders }),
    /** @type {(path: string) => Promise<{ bytes: number, firstByteMs: number, ms: number }>} */
    receive: path => receive(origin + path, requestHeaders),
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(join(dataDir, 'console.json'), { force: true });
    },
  };
}

/**
 * Requests a page as a browser does. Returns the number of received bytes, including headers, and the elapsed times.
 * @param {string} url
 * @param {Readonly<Record<string, string>>} requestHeaders
 */
async function receive(url, requestHeaders) {
  const headers = { ...requestHeaders, 'accept-encoding': 'gzip, deflate, br' };
  const startedAt = performance.now();
  const [answer] = await once(get(url, { headers, agent: false }), 'response');
  const firstByteMs = performance.now() - startedAt;
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode}`);
  const { socket } = answer;
  await once(answer.resume(), 'end');
  return { bytes: socket.bytesRead, firstByteMs, ms: performance.now() - startedAt };
}
