import { Argument, type Command } from 'commander';
import { examples } from '../../command.js';
import { emit, type Io } from '../../io.js';
import { SHELLS } from './shells.js';
import { positionsOf } from './words.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('completion')
    .description('Print what makes a shell complete commands and options')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .action(async (shell: string) => await emit(io, SHELLS[shell]?.(positionsOf(program)) ?? ''));
  examples(command, [
    'source <(carbon-mirror completion bash)',
    'carbon-mirror completion zsh > ~/.zfunc/_carbon-mirror',
    'carbon-mirror completion fish > ~/.config/fish/completions/carbon-mirror.fish',
  ]);
}
