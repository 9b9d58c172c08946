import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export async function startServer(settings) {
  const guard = spawn(
    process.execPath,
    [join(import.meta.dirname, 'guard.js'), JSON.stringify(settings)],
    // In a session of its own: what a terminal interrupts is this process, which then ends the guard by its pipe.
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true },
  );
  const over = once(guard, 'exit');
  const [line] = await Promise.race([once(createInterface(guard.stdout), 'line'), over]);
  return {
    server: typeof line === 'string' ? JSON.parse(line) : { missing: `the guard ended with ${line}` },
    stop: async () => {
      guard.stdin.end();
      await over;
    },
  };
}
