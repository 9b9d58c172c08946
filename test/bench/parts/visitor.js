// A visitor who signed in with the console's printed address, and what the browser receives.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { MAIN, start } from './children.js';

/** Paths of the first page and of what it loads. */
export const FIRST_PAGE = ['/', '/console.css', '/console.js'];

/**
 * @param {string} dataDir
 * @param {{ url: string } | null} [database]
 */
export async function openConsole(dataDir, database = null) {
  const where = database === null ? {} : { MIRROR_DATABASE_URL: database.url };
  const env = { DATA_DIR: dataDir, CONSOLE_PORT: '0', ...where };
  const child = start([MAIN, 'console', '--no-address'], { env, stdio: 'ignore' });
  while (!existsSync(join(dataDir, 'console.json'))) await new Promise(resolve => setTimeout(resolve, 10));
  const address = execFileSync(process.execPath, [MAIN, 'console', 'url'], { env, encoding: 'utf8' }).trim();
  const { headers } = await fetch(address, { redirect: 'manual' });
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  const { origin } = new URL(address);
  /** An idle connection would be closed while bare queries block this process, so none is kept. */
  const sent = { cookie, connection: 'close' };
  return {
    pid: child.pid,
    /** @type {(path: string, options?: RequestInit) => Promise<Response>} */
    open: (path, options) => fetch(origin + path, { ...options, headers: sent }),
    /** @type {(path: string) => Promise<{ bytes: number, firstByteMs: number, ms: number }>} */
    receive: path => receive(origin + path, sent),
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(join(dataDir, 'console.json'), { force: true });
    },
  };
}

/**
 * Returns all bytes of a response, headers included, as a browser receives them.
 * @param {string} url
 * @param {Readonly<Record<string, string>>} sent
 */
async function receive(url, sent) {
  const headers = { ...sent, 'accept-encoding': 'gzip, deflate, br' };
  const startedAt = performance.now();
  const [answer] = await once(get(url, { headers, agent: false }), 'response');
  const firstByteMs = performance.now() - startedAt;
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode}`);
  const { socket } = answer;
  await once(answer.resume(), 'end');
  return { bytes: socket.bytesRead, firstByteMs, ms: performance.now() - startedAt };
}
