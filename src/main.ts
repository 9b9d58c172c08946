#!/usr/bin/env node
/** The entry of the program. It alone connects the command line to this process: streams, signals, clock and exit code. */
import { runProgram } from './cli/program.js';
import { getProcessEnvironment } from './app/config/read-settings.js';
import { readPackageVersion } from './package.js';

const EXIT_CODE_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

/** Returns a signal that aborts on SIGINT, on SIGTERM or when the parent process goes away. */
function createInterruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const [signal, exitCode] of Object.entries(EXIT_CODE_BY_SIGNAL)) {
    process.on(signal, () => {
      // A second signal ends the process at once.
      if (controller.signal.aborted) process.exit(exitCode);
      controller.abort(signal);
    });
  }
  process.once('disconnect', () => controller.abort('disconnect'));
  if (process.send !== undefined && !process.connected) controller.abort('disconnect');
  return controller.signal;
}

/** Exit without an error when the reader closes the pipe early, as `| head` does. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await runProgram(process.argv.slice(2), readPackageVersion(), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: getProcessEnvironment(),
  now: Date.now,
  terminal: {
    stdin: process.stdin.isTTY ?? false,
    stdout: process.stdout.isTTY ?? false,
    stderr: process.stderr.isTTY ?? false,
  },
  columns: process.stdout.columns ?? 100,
  createInterruptSignal,
  sendToParent: fact => void process.send?.(fact, undefined, undefined, () => undefined),
});

/** An open channel to the parent process would keep this one alive. */
if (process.connected) process.disconnect();
