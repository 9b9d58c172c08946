import { Command, CommanderError } from 'commander';
import { readTextFile } from '../app/config/config.js';
import { removeMisspeltNames } from '../app/config/unknown-names.js';
import { readEnvFileOptions } from '../app/config/env-file.js';
import { registerCommand } from './register-command.js';
import { COMMANDS, COMMAND_GROUPS } from './commands.js';
import { EXIT, type ExitCode } from './exit.js';
import { explainError, createSecretMask } from './errors/explain-error.js';
import { usesColours, type Io, printNotice } from './io.js';

/** The files of settings are known once the command line is read. */
export type ProgramIo = Omit<Io, 'secretFiles' | 'hasEnvFile'>;

const SETTINGS_HELP = `
Settings come from the environment or from --env-file. .env.example lists them
with their defaults, and "carbon-mirror doctor" checks them.`;

/** Run one command line and answer its exit code. Nothing here ends the process. */
export async function runProgram(
  argv: readonly string[],
  version: string,
  given: ProgramIo,
): Promise<ExitCode> {
  let io: Io = { ...given, secretFiles: [], hasEnvFile: false };
  try {
    const { env, warnings } = removeMisspeltNames(given.env);
    printNotice(io, ...warnings.map(warning => `Warning: ${warning}`));
    const { args: words, ...settings } = readEnvFileOptions(argv, env, readTextFile);
    io = { ...given, ...settings };
    await runCommandLine(words, version, io);
    return EXIT.ok;
  } catch (error) {
    return reportError(io, error);
  }
}

/** Prints the error to stderr and returns its exit code. Commander has already printed its own errors. */
function reportError(io: Io, error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { exitCode, lines } = explainError(error);
  printNotice(io, ...lines.map(createSecretMask(io.env)));
  return exitCode;
}

async function runCommandLine(words: readonly string[], version: string, io: Io): Promise<void> {
  const program = createProgram(version, io);
  for (const [heading, commands] of Object.entries(COMMAND_GROUPS)) {
    program.commandsGroup(`${heading}:`);
    for (const [name, command] of Object.entries(commands))
      if (shouldRegister(words, name)) registerCommand(program, name, command, io);
  }
  await program.parseAsync([...words], { from: 'user' });
}

/** Only the named command is defined; all of them where the whole list is shown. */
function shouldRegister(words: readonly string[], name: string): boolean {
  const named = words.find(word => !word.startsWith('-'));
  return named === undefined || !Object.hasOwn(COMMANDS, named) || named === name;
}

function createProgram(version: string, io: Io): Command {
  return new Command('carbon-mirror')
    .description('A fresh, complete, dated and provable SQL mirror of a carbon-credit registry')
    .version(version)
    .option('--env-file <file>', 'read settings that the environment does not have from this file')
    .exitOverride()
    .configureHelp({ minWidthToWrap: 20 })
    .showHelpAfterError('Add --help to see the usage.')
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
