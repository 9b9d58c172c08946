import { parseEnv } from 'node:util';
import { SETTINGS, SettingsError } from './settings.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface CommandLine {
  /** What was said, without the option. */
  readonly words: readonly string[];
  readonly env: Environment;
  /** The files that hold a secret. */
  readonly secretFiles: readonly string[];
}

const OPTION = '--env-file';

/** Settings from the file that the command line names, under those of the environment. */
export function takeEnvFile(
  argv: readonly string[],
  env: Environment,
  readFile: (path: string) => string,
): CommandLine {
  const words: string[] = [];
  const files: (string | undefined)[] = [];
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  for (let place = 0; place < end; place += 1) {
    const word = argv[place] ?? '';
    if (word === OPTION) {
      place += 1;
      files.push(argv[place]);
    } else if (word.startsWith(`${OPTION}=`)) files.push(word.slice(OPTION.length + 1));
    else words.push(word);
  }
  const told = files.map(file => ({ file, settings: readEnvFile(file, readFile) }));
  return {
    words: [...words, ...argv.slice(end)],
    env: Object.assign({}, ...told.map(({ settings }) => settings), env),
    secretFiles: told.flatMap(({ file, settings }) => (file && holdsSecret(settings) ? [file] : [])),
  };
}

function readEnvFile(file: string | undefined, readFile: (path: string) => string): Environment {
  if (!file) throw unreadable('no file is named');
  try {
    return parseEnv(readFile(file));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw unreadable(`${JSON.stringify(file)} cannot be read${code}`);
  }
}

function holdsSecret(settings: Environment): boolean {
  return SETTINGS.some(({ name, secret }) => secret && settings[name]);
}

function unreadable(came: string): SettingsError {
  return new SettingsError([{ name: OPTION, expected: 'a file of settings, NAME=value on each line', came }]);
}
