import { CommandError, EXIT, createUsageError } from '../../exit.js';
import { cleanLine, type Io } from '../../io.js';

/** Ask before what cannot be undone. Where nobody can be asked, `--yes` must have said it. */
export async function confirm(io: Io, what: string, options: { readonly yes?: boolean }): Promise<void> {
  if (options.yes) return;
  if (!io.terminal.stdin) {
    throw createUsageError(`${what} This cannot be undone.`, 'Add --yes to skip the confirmation.');
  }
  io.stderr.write(`${cleanLine(what)} This cannot be undone. Continue? [y/N] `);
  if (/^y(es)?$/i.test((await readLine(io)).trim())) return;
  throw new CommandError(EXIT.interrupted, 'Nothing was done.');
}

/** The terminal stays as it is, so that Ctrl-C ends the process; the end of the input is an empty line. */
async function readLine(io: Io): Promise<string> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: io.stdin, terminal: false });
  try {
    return await new Promise<string>(resolve => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(''));
    });
  } finally {
    lines.close();
    io.stdin.pause();
  }
}
