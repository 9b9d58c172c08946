import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Where a server is: the folder of its socket, and its port.
 * @typedef {{ readonly host: string, readonly port: number, readonly pid: number }} Server
 */
/**
 * Tests that need a server fail with these words.
 * @typedef {{ readonly missing: string }} NoServer
 */
/**
 * `kill` ends the server as a power cut does; `start` starts it again on what was left.
 * @typedef {{
 *   readonly server: Server | NoServer,
 *   readonly kill: () => Promise<void>,
 *   readonly start: () => Promise<Server | NoServer>,
 *   readonly stop: () => Promise<void>,
 * }} StartedServer
 */

/**
 * Starts a PostgreSQL that goes with this process however that ends: the tests' own, or one of a folder of binaries.
 * @param {readonly string[]} settings
 * @param {string} [binaries]
 * @returns {Promise<StartedServer>}
 */
export async function startServer(settings, binaries = '') {
  const guard = spawn(
    process.execPath,
    [join(import.meta.dirname, 'guard.js'), JSON.stringify(settings), binaries],
    // In a session of its own: what a terminal interrupts is this process, which then ends the guard by its pipe.
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true },
  );
  const over = once(guard, 'exit');
  const lines = createInterface(guard.stdout);

  /**
   * What it says next.
   * @param {string | null} word
   * @returns {Promise<Server | NoServer>}
   */
  async function answer(word) {
    if (word !== null) guard.stdin.write(`${word}\n`);
    const [line] = await Promise.race([once(lines, 'line'), over]);
    return typeof line === 'string' ? JSON.parse(line) : { missing: `the guard ended with ${line}` };
  }

  return {
    server: await answer(null),
    kill: async () => void (await answer('kill')),
    start: () => answer('start'),
    stop: async () => {
      guard.stdin.end();
      await over;
    },
  };
}
