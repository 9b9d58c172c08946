import { CommandError, createUsageError, EXIT } from '../../exit.js';
import { cleanLine, type Io } from '../../io.js';

/**
 * Asks on the terminal whether to do something that cannot be undone; throws unless the answer is yes. Without a terminal
 * only `--yes` confirms it. `action` is a sentence such as `Release 1 t of X.`
 */
export async function requireConfirmation(
  io: Io,
  action: string,
  options: { readonly yes?: boolean },
): Promise<void> {
  if (options.yes) return;
  if (!io.terminal.stdin) {
    throw createUsageError(`${action} This cannot be undone.`, 'Add --yes to skip the confirmation.');
  }
  io.stderr.write(`${cleanLine(action)} This cannot be undone. Continue? [y/N] `);
  if (/^y(es)?$/i.test((await readLine(io)).trim())) return;
  throw new CommandError(EXIT.interrupted, 'Nothing was done.');
}

/** Reads a line of input; empty at its end. Does not change the mode of the terminal, so that Ctrl-C still ends the process. */
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
