import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import { COMMANDS } from '../../src/cli/all-commands.js';
import { registerCommand } from '../../src/cli/register-command.js';

/** Registers all commands as the program does. */
export function defineProgram(): Command {
  const program = new Command();
  for (const [name, command] of Object.entries(COMMANDS)) {
    registerCommand(program, name, command, {
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
      env: {},
      now: () => 0,
      terminal: { stdin: false, stdout: false, stderr: false },
      columns: 100,
      createInterruptSignal: () => new AbortController().signal,
      secretFiles: [],
      hasEnvFile: false,
      sendToParent: () => undefined,
    });
  }
  return program;
}

export interface DefinedCommand {
  /** The full name, such as `sandbox apps list`. */
  readonly name: string;
  readonly command: Command;
}

/** Lists all commands except groups. */
export async function listCommands(): Promise<DefinedCommand[]> {
  return listLeafCommands(defineProgram(), []);
}

function listLeafCommands(command: Command, path: readonly string[]): DefinedCommand[] {
  if (command.commands.length === 0) return [{ name: path.join(' '), command }];
  return command.commands.flatMap(child => listLeafCommands(child, [...path, child.name()]));
}

/** Lists the names of everything that has a help text: the program, its groups and its commands. */
export function listNamesWithHelp(): readonly string[] {
  const listNames = (command: Command, path: readonly string[]): string[] => [
    path.join(' '),
    ...command.commands.flatMap(child => listNames(child, [...path, child.name()])),
  ];
  return listNames(defineProgram(), []);
}
