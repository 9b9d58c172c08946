import type { Readable, Writable } from 'node:stream';
import { cleanText } from '../text/clean-text.js';

/** Everything outside the program that a command uses. Data goes to `stdout`, notices to `stderr`. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files given with --env-file that hold a secret. */
  readonly secretFiles: readonly string[];
  /** Whether the command line has --env-file. */
  readonly hasEnvFile: boolean;
  readonly now: () => number;
  /** Whether each stream is a terminal. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** The width of the terminal in characters. */
  readonly columns: number;
  /** Takes over SIGINT and SIGTERM: the first aborts the returned signal, a second ends the process at once. */
  readonly createInterruptSignal: () => AbortSignal;
  /** Sends a message to the process that started this one. Does nothing if no process listens. */
  readonly sendToParent: (message: Readonly<Record<string, unknown>>) => void;
}

const MAX_LINE_LENGTH = 2000;

/** Makes text safe to print as one terminal line. Removes control characters and limits the length. */
export function cleanLine(line: string): string {
  const clean = cleanText(line);
  return clean.length > MAX_LINE_LENGTH ? `${clean.slice(0, MAX_LINE_LENGTH - 1)}…` : clean;
}

/** Prints lines to stderr. Removes control characters from each line. */
export function printNotice(io: Pick<Io, 'stderr'>, ...lines: readonly string[]): void {
  for (const line of lines) io.stderr.write(`${cleanLine(line)}\n`);
}

/** Prints lines to stdout. Removes control characters from each line. */
export async function printLines(io: Io, ...lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await writeStdout(io, lines.map(line => `${cleanLine(line)}\n`).join(''));
}

/** Returns whether the stream is a terminal that shows colours. NO_COLOR turns colours off. */
export function usesColours(
  { terminal, env }: Pick<Io, 'terminal' | 'env'>,
  stream: 'stdout' | 'stderr' = 'stdout',
): boolean {
  return terminal[stream] && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** Writes text to stdout as it is. Waits while a slow reader catches up. */
export async function writeStdout(io: Io, text: string): Promise<void> {
  if (io.stdout.write(text)) return;
  await new Promise<void>(resolve => {
    const done = (): void => {
      io.stdout.off('drain', done).off('close', done);
      resolve();
    };
    io.stdout.on('drain', done).on('close', done);
  });
}

/** Texts are collected until they have this length, because each write is expensive. */
const MIN_STDOUT_WRITE_LENGTH = 32_768;

/** Writes texts to stdout as they arrive, in large chunks. */
export async function streamStdout(io: Io, texts: AsyncIterable<string>): Promise<void> {
  let pending = '';
  try {
    for await (const text of texts) {
      pending += text;
      if (pending.length < MIN_STDOUT_WRITE_LENGTH) continue;
      await writeStdout(io, pending);
      pending = '';
    }
  } finally {
    // If the source fails, the texts that arrived are still written.
    if (pending !== '') await writeStdout(io, pending);
  }
}
