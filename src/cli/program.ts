/**
 * The command-line program: parses one command line, runs its command and returns the exit code.
 *
 * Reads files of settings first, because they change the environment that commands see. Turns every error into lines
 * on stderr. Never ends the process and never touches process.env or the real streams: all of them come from `ProgramIo`.
 */
import { Command, CommanderError } from 'commander';
import { readTextFile } from '../app/config/read-settings.js';
import { removeMisspeltNames } from '../app/config/unknown-settings.js';
import { readEnvFileOptions } from '../app/config/env-file.js';
import { registerCommand } from './register-command.js';
import { COMMANDS, COMMAND_GROUPS } from './all-commands.js';
import { EXIT, type ExitCode } from './exit.js';
import { explainError, createSecretMask } from './errors/explain-error.js';
import { usesColours, type Io, printNotice } from './io.js';

/** What `main` passes to the program. Files of settings are added once the command line has been read. */
export type ProgramIo = Omit<Io, 'secretFiles' | 'hasEnvFile'>;

const SETTINGS_HELP = `
Settings come from the environment or from --env-file. .env.example lists them
with their defaults, and "carbon-mirror doctor" checks them.`;

/** Runs one command line and returns its exit code. Never throws and never ends the process. */
export async function runProgram(
  argv: readonly string[],
  version: string,
  programIo: ProgramIo,
): Promise<ExitCode> {
  let io: Io = { ...programIo, secretFiles: [], hasEnvFile: false };
  try {
    const { env, warnings } = removeMisspeltNames(programIo.env);
    printNotice(io, ...warnings.map(warning => `Warning: ${warning}`));
    const { args, ...settings } = readEnvFileOptions(argv, env, readTextFile);
    io = { ...programIo, ...settings };
    await runCommandLine(args, version, io);
    return EXIT.ok;
  } catch (error) {
    return reportError(io, error);
  }
}

/** Prints an error to stderr and returns the exit code. */
function reportError(io: Io, error: unknown): ExitCode {
  // Commander has already printed its own errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { exitCode, lines } = explainError(error);
  printNotice(io, ...lines.map(createSecretMask(io.env)));
  return exitCode;
}

/** Parses the arguments and runs the command that they name. */
async function runCommandLine(args: readonly string[], version: string, io: Io): Promise<void> {
  const program = createProgram(version, io);
  for (const [heading, commands] of Object.entries(COMMAND_GROUPS)) {
    program.commandsGroup(`${heading}:`);
    for (const [name, command] of Object.entries(commands))
      if (isCommandNeeded(args, name)) registerCommand(program, name, command, io);
  }
  await program.parseAsync(findUnknownCommand(program, args) ?? moveHelpToEnd(args), { from: 'user' });
}

/** Turns `help retirements totals` into `retirements totals --help`: commander's own `help` knows only the first of the words. */
function moveHelpToEnd(args: readonly string[]): string[] {
  const [first, ...words] = args;
  return first === HELP && words.length > 0 ? [...words, '--help'] : [...args];
}

/**
 * Finds the first word of a command line that is not a command. Returns the words up to and including this word, without options and
 * without the word `help`. Returns null if all commands exist.
 *
 * The caller gives commander only the returned words, because commander then suggests similar commands. For the whole command line,
 * commander would print a help text.
 */
function findUnknownCommand(program: Command, args: readonly string[]): string[] | null {
  const path: string[] = [];
  let command = program;
  for (const word of args.filter(arg => !arg.startsWith('-') && arg !== HELP)) {
    if (command.commands.length === 0) return null;
    path.push(word);
    const subcommand = command.commands.find(each => each.name() === word || each.aliases().includes(word));
    if (subcommand === undefined) return path;
    command = subcommand;
  }
  return null;
}

/** The command that prints the help of another one. */
const HELP = 'help';

/**
 * Whether to register a command. True if the arguments name the command. Also true if they name no known command, because the help
 * then lists all commands.
 */
function isCommandNeeded(args: readonly string[], commandName: string): boolean {
  const requestedName = args.find(arg => !arg.startsWith('-') && arg !== HELP);
  // Without a known command, the help lists all commands.
  return (
    requestedName === undefined || !Object.hasOwn(COMMANDS, requestedName) || requestedName === commandName
  );
}

/** Creates the commander program with its description and global options, but without commands. */
function createProgram(version: string, io: Io): Command {
  return new Command('carbon-mirror')
    .description('A fresh, complete, dated and provable SQL mirror of a carbon-credit registry')
    .version(version)
    .option('--env-file <file>', 'read settings from this file; environment variables take precedence')
    .exitOverride()
    .configureHelp({ minWidthToWrap: 20 })
    .showHelpAfterError('See "carbon-mirror --help".')
    .addHelpText('after', SETTINGS_HELP)
    .configureOutput({
      writeOut: text => void io.stdout.write(text),
      writeErr: text => void io.stderr.write(text),
      getOutHasColors: () => usesColours(io),
      getErrHasColors: () => usesColours(io, 'stderr'),
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
    });
}
