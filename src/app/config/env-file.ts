import { parseEnv } from 'node:util';
import { SettingsError } from './settings-error.js';
import { SETTINGS } from './settings-table.js';
import type { Environment } from './define-setting.js';

/** A command line without its options `--env-file`, and the environment with the settings of those files. */
export interface CommandLineWithEnv {
  readonly args: readonly string[];
  readonly env: Environment;
  /** The files that contain a secret. */
  readonly secretFiles: readonly string[];
  /** Whether the command line names any file. */
  readonly hasEnvFile: boolean;
}

const OPTION = '--env-file';

/**
 * Reads the files of the options `--env-file`. Returns the other arguments, and an environment in which `env` overrides the
 * files.
 */
export function readEnvFileOptions(
  argv: readonly string[],
  env: Environment,
  readFile: (path: string) => string,
): CommandLineWithEnv {
  const { args, paths } = extractEnvFilePaths(argv);
  const files = paths.map(path => ({ path, settings: readEnvFile(path, readFile) }));
  return {
    args,
    env: Object.assign({}, ...files.map(({ settings }) => settings), env),
    secretFiles: files.flatMap(({ path, settings }) => (path && hasSecret(settings) ? [path] : [])),
    hasEnvFile: files.length > 0,
  };
}

/** Separates the paths of the options `--env-file` from the other arguments of a command line. A missing path is undefined. */
function extractEnvFilePaths(argv: readonly string[]) {
  const args: string[] = [];
  const paths: (string | undefined)[] = [];
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  for (let index = 0; index < end; index += 1) {
    const arg = argv[index] ?? '';
    if (arg === OPTION) {
      index += 1;
      paths.push(argv[index]);
    } else if (arg.startsWith(`${OPTION}=`)) {
      paths.push(arg.slice(OPTION.length + 1));
    } else {
      args.push(arg);
    }
  }
  return { args: [...args, ...argv.slice(end)], paths };
}

/** Parses an env file. Throws a `SettingsError` if the file is missing or not an env file. */
function readEnvFile(path: string | undefined, readFile: (path: string) => string): Environment {
  if (!path) throw createEnvFileError('no file is named');
  const text = readEnvFileText(path, readFile);
  const settings = parseEnv(text);
  if (!isSettingsFile(text, settings)) throw createEnvFileError(`${JSON.stringify(path)} has other content`);
  return settings;
}

/** Reads the text of an env file. Throws a `SettingsError` if it cannot be read. */
function readEnvFileText(path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw createEnvFileError(`${JSON.stringify(path)} cannot be read${code}`);
  }
}

function hasSecret(settings: Environment): boolean {
  return SETTINGS.some(({ name, secret }) => secret && settings[name]);
}

/** Returns whether a text looks like an env file and not, for example, like a private key. `settings` is the parsed text. */
function isSettingsFile(text: string, settings: Environment): boolean {
  // Node's parser accepts keys and JSON too. It returns odd names or nothing for them.
  if (text.trimStart().startsWith('-----BEGIN')) return false;
  const names = Object.keys(settings);
  const isEmpty = text.split(/\r?\n/).every(line => /^\s*(#|$)/.test(line));
  return names.every(name => /^[\w.-]+$/.test(name)) && (isEmpty || names.length > 0);
}

/** Creates the error for an option `--env-file` whose file is missing or cannot be used. */
function createEnvFileError(problem: string): SettingsError {
  return new SettingsError([
    { name: OPTION, expected: 'a file of settings, NAME=value on each line', problem },
  ]);
}
