import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export async function startServer(settings, binaries = '') {
  const guard = spawn(
    process.execPath,
    [join(import.meta.dirname, 'guard.js'), JSON.stringify(settings), binaries],
    // In a session of its own: what a terminal interrupts is this process, which then ends the guard by its pipe.
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true },
  );
  const over = once(guard, 'exit');
  const lines = createInterface(guard.stdout);

  /** What it says next. */
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
