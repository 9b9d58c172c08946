import { Command, CommanderError } from 'commander';
import { readSecretFile } from '../app/config/config.js';
import { removeMisspeltNames } from '../app/config/unknown-names.js';
import { takeEnvFile } from '../app/config/env-file.js';
import { define } from './define.js';
import { COMMANDS, GROUPS } from './commands.js';
import { EXIT, type ExitCode } from './exit.js';
import { explain, hideSecrets } from './faults/explain.js';
import { colours, type Io, say } from './io.js';

/** The files of settings are known once the command line is read. */
export type GivenIo = Omit<Io, 'secretFiles' | 'hasEnvFile'>;

const ON_SETTINGS = `
Settings come from the environment, or from --env-file. .env.example has each
with its default, and "carbon-mirror doctor" names what is wrong of them.`;

/** Run one command line and answer its exit code. Nothing here ends the process. */
export async function runProgram(
  argv: readonly string[],
  version: string,
  given: GivenIo,
): Promise<ExitCode> {
  let io: Io = { ...given, secretFiles: [], hasEnvFile: false };
  try {
    const { env, warnings } = removeMisspeltNames(given.env);
    say(io, ...warnings.map(warning => `Warning: ${warning}`));
    const { words, ...settings } = takeEnvFile(argv, env, readSecretFile);
    io = { ...given, ...settings };
    await runWords(words, version, io);
    return EXIT.ok;
  } catch (error) {
    return tell(io, error);
  }
}

/** Commander has told its own faults. */
function tell(io: Io, error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { exitCode, lines } = explain(error);
  say(io, ...lines.map(hideSecrets(io.env)));
  return exitCode;
}

async function runWords(words: readonly string[], version: string, io: Io): Promise<void> {
  const program = createProgram(version, io);
  for (const [heading, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(`${heading}:`);
    for (const [name, command] of Object.entries(commands))
      if (isNamedIn(words, name)) define(program, name, command, io);
  }
  await program.parseAsync([...words], { from: 'user' });
}

/** Only the named command is defined; all of them where the whole list is shown. */
function isNamedIn(words: readonly string[], name: string): boolean {
  const named = words.find(word => !word.startsWith('-'));
  return named === undefined || !Object.hasOwn(COMMANDS, named) || named === name;
}

function createProgram(version: string, io: Io): Command {
  return new Command('carbon-mirror')
    .description('A fresh, complete, dated and provable SQL mirror of a carbon-credit registry')
    .version(version)
    .option('--env-file <file>', 'a file with settings that the environment does not have; for every command')
    .exitOverride()
    .configureHelp({ minWidthToWrap: 20 })
    .showHelpAfterError('Add --help to see what it takes.')
    .addHelpText('after', ON_SETTINGS)
    .configureOutput({
      writeOut: text => void io.stdout.write(text),
      writeErr: text => void io.stderr.write(text),
      getOutHasColors: () => colours(io),
      getErrHasColors: () => colours(io, 'stderr'),
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
    });
}
