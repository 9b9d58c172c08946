import type { Command } from 'commander';
import type { Io } from './io.js';

/** One module of `cli/` per command: it says what the command takes and, when it is called, does it. */
export interface CommandModule {
  define(program: Command, io: Io): void;
}

/** Examples under a command's help. */
export function examples(command: Command, lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map(line => `  $ ${line}`).join('\n')}`);
}
