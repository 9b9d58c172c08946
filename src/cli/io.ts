import type { Readable, Writable } from 'node:stream';

/** What a command touches of the outside. Data goes to `stdout`, talk to `stderr`. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Whether a person is looking at stdout, stderr and can type on stdin. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  readonly columns: number;
  /** Take over SIGINT and SIGTERM: the first aborts the signal, a second ends the process at once. */
  readonly interruption: () => AbortSignal;
  /** Tell the process that started this one, if it listens. */
  readonly tellParent: (fact: Readonly<Record<string, unknown>>) => void;
}

export function say(io: Io, text: string): void {
  io.stderr.write(`${text}\n`);
}

export function colours(io: Io): boolean {
  return io.terminal.stdout && !io.env['NO_COLOR'];
}

/** Write and wait until the reader has room, so that memory does not grow with the data. */
export async function emit(io: Io, text: string): Promise<void> {
  if (io.stdout.write(text)) return;
  await new Promise<void>(resolve => {
    io.stdout.once('drain', resolve);
    io.stdout.once('close', resolve);
  });
}
