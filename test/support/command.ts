import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { runProgram } from '../../src/cli/program.js';

export interface CommandOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly env?: Record<string, string>;
  readonly input?: string;
  readonly now?: () => number;
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly createInterruptSignal?: () => AbortSignal;
  /** Receives the text on stdout as it is written. */
  readonly onStdout?: (text: string) => void;
}

/** Runs a command line in this process, by default without a terminal. */
export async function runCommand(
  argv: readonly string[],
  options: CommandOptions = {},
): Promise<CommandOutcome> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const stdin = new PassThrough();
  stdin.end(options.input ?? '');
  const terminal = options.terminal ?? false;
  stdout.on('data', (chunk: Buffer) => options.onStdout?.(chunk.toString('utf8')));
  const printed = Promise.all([buffer(stdout), buffer(stderr)]);
  const exitCode = await runProgram(argv, '0.0.0-test', {
    stdin,
    stdout,
    stderr,
    env: options.env ?? {},
    now: options.now ?? Date.now,
    terminal: { stdin: terminal, stdout: terminal, stderr: terminal },
    columns: options.columns ?? 100,
    createInterruptSignal: options.createInterruptSignal ?? (() => new AbortController().signal),
    sendToParent: () => undefined,
  });
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { exitCode, stdout: out.toString('utf8'), stderr: err.toString('utf8') };
}
