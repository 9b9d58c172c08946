import { parseEnv } from 'node:util';
import { SettingsError } from './settings-error.js';
import { SETTINGS } from './settings.js';
import type { Environment } from './setting.js';

export interface CommandLineWithEnv {
  /** What was said, without the option. */
  readonly args: readonly string[];
  readonly env: Environment;
  /** The files that hold a secret. */
  readonly secretFiles: readonly string[];
  /** Whether any file is named. */
  readonly hasEnvFile: boolean;
}

const OPTION = '--env-file';

/** Settings from the file that the command line names, under those of the environment. */
export function readEnvFileOptions(
  argv: readonly string[],
  env: Environment,
  readFile: (path: string) => string,
): CommandLineWithEnv {
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
    args: [...words, ...argv.slice(end)],
    env: Object.assign({}, ...told.map(({ settings }) => settings), env),
    secretFiles: told.flatMap(({ file, settings }) => (file && holdsSecret(settings) ? [file] : [])),
    hasEnvFile: files.length > 0,
  };
}

function readEnvFile(file: string | undefined, readFile: (path: string) => string): Environment {
  if (!file) throw unreadable('no file is named');
  const text = readText(file, readFile);
  const settings = parseEnv(text);
  if (!isSettings(text, settings)) throw unreadable(`${JSON.stringify(file)} holds something else`);
  return settings;
}

function readText(file: string, readFile: (path: string) => string): string {
  try {
    return readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw unreadable(`${JSON.stringify(file)} cannot be read${code}`);
  }
}

function holdsSecret(settings: Environment): boolean {
  return SETTINGS.some(({ name, secret }) => secret && settings[name]);
}

/** Of a key or of JSON the parser takes some pieces for names, or nothing at all, and says no word. */
function isSettings(text: string, settings: Environment): boolean {
  if (text.trimStart().startsWith('-----BEGIN')) return false;
  const names = Object.keys(settings);
  const isEmpty = text.split(/\r?\n/).every(line => /^\s*(#|$)/.test(line));
  return names.every(name => /^[\w.-]+$/.test(name)) && (isEmpty || names.length > 0);
}

function unreadable(came: string): SettingsError {
  return new SettingsError([
    { name: OPTION, expected: 'a file of settings, NAME=value on each line', problem: came },
  ]);
}
