import { EXIT } from '../../exit.js';
import { CommandError, createUsageError } from '../../command-error.js';
import { cleanLine, type Io } from '../../io.js';

/** Asks the user to confirm an action at the registry. Without a terminal, throws unless `yes` is set. Throws if the user disagrees. */
export async function requireConfirmation(
  io: Io,
  action: string,
  options: { readonly yes?: boolean },
): Promise<void> {
  if (options.yes) return;
  if (!io.terminal.stdin) {
    throw createUsageError(action, 'Add --yes to skip the confirmation.');
  }
  io.stderr.write(`${cleanLine(action)} Continue? [y/N] `);
  if (/^y(es)?$/i.test((await readLine(io)).trim())) return;
  throw new CommandError(EXIT.interrupted, 'Nothing was done.');
}

/** Reads one line from standard input. Returns an empty text at the end of the input. */
async function readLine(io: Io): Promise<string> {
  const { createInterface } = await import('node:readline');
  /** With `terminal: false` the terminal keeps its mode, so that Ctrl-C still ends the process. */
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
