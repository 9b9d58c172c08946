// Runs random command lines on a mirror with a row in every list. Each must end with a documented exit code, without a stack trace, and
// within seconds after an interrupt. A successful one must print something.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { createDice, growthAfter, measureHeapMb, stackOf } from './fuzz-random.js';
import { fillMirror } from './fuzz-mirror.js';

/** @import { Argument, Command as Commander, Option } from 'commander' */
/** @import { Dice } from './fuzz-random.js' */
/** @import { Load } from './fuzz-mirror.js' */
/** @typedef {{ path: string[], options: readonly Option[], commandArguments: readonly Argument[] }} CommandSpec a command with its options and arguments */
/** @typedef {{ code: number | string, error: unknown }} End */

const CODES = [0, 1, 2, 3, 4, 5, 6, 130];
const STACK = /\n\s+at .*:\d+:\d+|TypeError|RangeError|ReferenceError|is not a function/;
const INTERRUPT_AFTER_MS = 400;
const HANGS_AFTER_MS = 30_000;
const WORDS = [
  '',
  ' ',
  '-',
  '--',
  '0',
  '1',
  '-1',
  '1.5',
  '1e9',
  '99999999999999999999',
  'NaN',
  'true',
  'null',
  '10%',
  '*',
  "'",
  '"',
  ';',
  'organization-1',
  'harbour',
  'Harbour Ferries',
  'installation-1',
  'credit-1',
  't-1',
  'ada@example.org',
  'nobody',
  '2026-05-04',
  '2026-13-45',
  '2026-05-04T12:00:00Z',
  'yesterday',
  '+275760-09-13',
  '0',
  'SELECT 1',
  'select * from x',
  'WITH a AS (SELECT 1) SELECT * FROM a',
  "ATTACH 'x' AS y",

  '\u001b[2J',
  '\u202e',
  '\ud800',
  '😀',
  'é',
  '{}',
  '[]',
  '{"a":1}',
  'a=b',
  '=',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(5_000),
  'settings.env',
  'missing.env',
  'file',
  '@file',
  '%2e%2e',
  '..',
];
const SETTINGS = [
  'DATA_DIR',
  'PORT',
  'LOG_LEVEL',
  'SYNC_SCHEDULE',
  'REGISTRY_APP_ID',
  'WEBHOOK_SECRETS',
  'RETENTION_DAYS',
  'HOST',
  'MIRROR_MEMBERS',
];
/** Commands that run until they are stopped, with processes of their own. */
const STARTS = ['up', 'receive', 'work', 'api'];

/** @param {import("./fuzz.js").Fuzzing} fuzzing */
export async function fuzzCommands({ count, seed, program }) {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-fuzz-'));
  /** @type {Load} */
  const from = name => import(new URL(`src/${name}`, program).href);
  /** @type {typeof import('../../dist/src/cli/program.js')} */
  const { runProgram } = await from('cli/program.js');
  const dice = createDice(seed);
  /** @type {{ codes: Record<string, number>, faults: string[], sizes: number[] }} */
  const tally = { codes: {}, faults: [], sizes: [] };
  const home = process.cwd();
  mkdirSync(join(folder, 'here'));
  try {
    process.chdir(join(folder, 'here'));
    await fillMirror(folder, from);
    const lines = await readCommands(from);
    for (let round = 0; round < count && tally.faults.length < 5; round += 1) {
      if (round % Math.ceil(count / 5) === 0) tally.sizes.push(measureHeapMb());
      if (dice.chance(0.05)) writeFileSync('settings.env', makeSettings(dice));
      const argv = makeLine(dice, dice.pick(lines));
      const env = makeEnvironment(dice, folder, argv[0] ?? '');
      const { code, output, printed, talked, error } = await run(runProgram, dice, argv, env);
      tally.codes[code] = (tally.codes[code] ?? 0) + 1;
      const isSilent = code === 0 ? hasNoRows(printed) && talked.trim() === '' : output.trim() === '';
      if (error === null && CODES.includes(Number(code)) && !STACK.test(output) && !isSilent) continue;
      tally.faults.push(
        `${JSON.stringify(argv)} with ${JSON.stringify(env)}: ${code} ${error === null ? output.slice(-1_500) : stackOf(error)}`,
      );
    }
  } finally {
    process.chdir(home);
    rmSync(folder, { recursive: true, force: true });
  }
  tally.sizes.push(measureHeapMb());
  return { ...tally, growth: growthAfter(tally.sizes, 1), unit: 'MB of heap after collection' };
}

/**
 * Returns every command with its options and arguments, from its definition.
 * @param {Load} from
 * @returns {Promise<CommandSpec[]>}
 */
async function readCommands(from) {
  /** @type {typeof import('../../dist/src/cli/all-commands.js')} */
  const { COMMANDS } = await from('cli/all-commands.js');
  const { Command } = await import('commander');
  const root = new Command();
  /** @type {typeof import('../../dist/src/cli/register-command.js')} */
  const { registerCommand } = await from('cli/register-command.js');
  for (const [name, command] of Object.entries(COMMANDS))
    registerCommand(root, name, command, createIo({}, new AbortController().signal, false));
  /** @type {(command: Commander, path: string[]) => CommandSpec[]} */
  const walk = (command, path) => [
    ...(command.commands.length === 0
      ? [{ path, options: command.options, commandArguments: command.registeredArguments }]
      : []),
    ...command.commands.flatMap(child => walk(child, [...path, child.name()])),
  ];
  return walk(root, []);
}

/**
 * Returns a random command line of a command: mostly with its options and arguments, sometimes with others.
 * @param {Dice} dice
 * @param {CommandSpec} spec
 */
function makeLine(dice, { path, options, commandArguments }) {
  const line = [...path];
  const word = () => dice.pick(WORDS);
  for (const argument of commandArguments) {
    if (dice.chance(0.85)) line.push(dice.pick([word(), ...(argument.argChoices ?? [])]));
  }
  for (const option of options) {
    if (!dice.chance(option.mandatory ? 0.85 : 0.25)) continue;
    const { long = '' } = option;
    const value = option.argChoices ? dice.pick([...option.argChoices, word()]) : word();
    if (!option.required && !option.optional) line.push(long);
    else line.push(...(dice.chance(0.2) ? [`${long}=${value}`] : [long, value]));
  }
  if (dice.chance(0.1)) line.splice(dice.below(line.length + 1), 0, word());
  if (dice.chance(0.05)) line.splice(dice.below(line.length), 1);
  if (dice.chance(0.05)) line.push('--env-file', 'settings.env');
  if (dice.chance(0.05)) line.push(dice.pick(['--help', '-h', '--version', '--env-file', '--nothing']));
  return line.filter(each => !each.includes('..'));
}

/**
 * Returns the text of a random settings file. It can contain bytes that no environment variable can.
 * @param {Dice} dice
 */
function makeSettings(dice) {
  return Array.from(
    { length: 3 },
    () => `${dice.pick(SETTINGS)}=${dice.pick([...WORDS, 'a\0b', '"a\nb"'])}`,
  ).join('\n');
}

/**
 * @param {Dice} dice
 * @param {string} folder
 * @param {string} command
 * @returns {Record<string, string>}
 */
function makeEnvironment(dice, folder, command) {
  const env = {
    DATA_DIR: join(folder, 'data'),
    PORT: '1',
    OPERATIONS_PORT: '0',
    SANDBOX_PORT: command === 'sandbox' ? '1' : '0',
  };
  if (STARTS.includes(command))
    return { ...env, SYNC_SCHEDULE: 'never', API_PORT: 'none', REGISTRY_BASE_URL: dice.pick(WORDS) || 'x' };
  const name = dice.pick(SETTINGS);
  return dice.chance(0.1) ? { ...env, [name]: name === 'DATA_DIR' ? 'elsewhere' : dice.pick(WORDS) } : env;
}

/**
 * @param {typeof import('../../dist/src/cli/program.js').runProgram} runProgram
 * @param {Dice} dice
 * @param {readonly string[]} argv
 * @param {Readonly<Record<string, string>>} env
 */
async function run(runProgram, dice, argv, env) {
  const interrupted = new AbortController();
  const alarm = setTimeout(() => interrupted.abort('SIGINT'), INTERRUPT_AFTER_MS);
  const typed = dice.pick(WORDS);
  const io = createIo(env, interrupted.signal, dice.chance(0.2));
  const [printed, talked] = [listenTo(io.stdout), listenTo(io.stderr)];
  io.stdin.end(typed);
  const over = new AbortController();
  /** @type {Promise<End>} */
  const hang = pause(HANGS_AFTER_MS, { code: 'hangs', error: null }, { signal: over.signal }).catch(() => ({
    code: 'over',
    error: null,
  }));
  /** @type {Promise<End>} */
  const ended = runProgram(argv, '0.0.0', io).then(
    code => ({ code, error: null }),
    error => ({ code: 'thrown', error }),
  );
  const end = await Promise.race([ended, hang]);
  clearTimeout(alarm);
  over.abort();
  return { ...end, output: printed() + talked(), printed: printed(), talked: talked() };
}

/**
 * Creates the streams of a command, separate from those of this process.
 * @param {Readonly<Record<string, string>>} env
 * @param {AbortSignal} interrupted
 * @param {boolean} isTerminal
 */
function createIo(env, interrupted, isTerminal) {
  return {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env,
    secretFiles: [],
    hasEnvFile: false,
    now: Date.now,
    columns: 100,
    createInterruptSignal: () => interrupted,
    sendToParent: () => undefined,
    terminal: { stdin: false, stdout: isTerminal, stderr: isTerminal },
  };
}

/**
 * Returns a function that returns the first megabyte that a stream has received so far.
 * @param {PassThrough} stream
 */
function listenTo(stream) {
  let text = '';
  stream.on('data', chunk => {
    if (text.length < 1e6) text += chunk;
  });
  return () => text;
}

/**
 * Returns whether the output has no rows: it is empty, an empty list, or a header alone.
 * @param {string} printed
 */
function hasNoRows(printed) {
  const text = printed.trim();
  return text === '' || text === '[]' || /^[a-z_0-9:]+(( {2,}|,)[a-z_0-9:]+)*$/.test(text);
}
