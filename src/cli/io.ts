import type { Readable, Writable } from 'node:stream';
import { cleanText } from '../text/clean-text.js';

/** What a command touches of the outside. Data goes to `stdout`, talk to `stderr`. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files of settings that the command line names and that hold a secret. */
  readonly secretFiles: readonly string[];
  /** Whether the command line names a file of settings. */
  readonly hasEnvFile: boolean;
  readonly now: () => number;
  /** Whether a person is looking at stdout, stderr and can type on stdin. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  readonly columns: number;
  /** Take over SIGINT and SIGTERM: the first aborts the signal, a second ends the process at once. */
  readonly interruption: () => AbortSignal;
  /** Tell the process that started this one, if it listens. */
  readonly tellParent: (fact: Readonly<Record<string, unknown>>) => void;
}

const LONGEST_LINE = 2000;

/** One line for people, whatever stands in it. */
export function cleanLine(line: string): string {
  const clean = cleanText(line);
  return clean.length > LONGEST_LINE ? `${clean.slice(0, LONGEST_LINE - 1)}…` : clean;
}

/** Talk, a line each: what the registry sent cannot end a line or draw on the terminal. */
export function printNotice(io: Pick<Io, 'stderr'>, ...lines: readonly string[]): void {
  for (const line of lines) io.stderr.write(`${cleanLine(line)}\n`);
}

/** Data for people, a line each. */
export async function printLines(io: Io, ...lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await writeStdout(io, lines.map(line => `${cleanLine(line)}\n`).join(''));
}

/** For a person who has not said that colours, or a terminal's own commands, are of no use there. */
export function usesColours(
  { terminal, env }: Pick<Io, 'terminal' | 'env'>,
  where: 'stdout' | 'stderr' = 'stdout',
): boolean {
  return terminal[where] && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** Text as it is, for files and programs. Writes and waits until the reader has room, so that memory does not grow with the data. */
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

/** A write costs as much as to make several lines. */
const CHARACTERS_AT_ONCE = 32_768;

/** The same of what is made piece by piece; what was made before a fault is written too. */
export async function streamStdout(io: Io, texts: AsyncIterable<string>): Promise<void> {
  let held = '';
  try {
    for await (const text of texts) {
      held += text;
      if (held.length < CHARACTERS_AT_ONCE) continue;
      await writeStdout(io, held);
      held = '';
    }
  } finally {
    if (held !== '') await writeStdout(io, held);
  }
}
