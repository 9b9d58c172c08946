import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { COMMAND_GROUPS } from '../../src/cli/all-commands.js';
import { runCommand } from '../support/command.js';
import { splitWords } from '../support/command-lines.js';
import { defineProgram, listCommands, listNamesWithHelp } from '../support/commands.js';

const NOW = Date.UTC(2026, 0, 31, 12);

async function readHelp(name: string, columns: number): Promise<string> {
  const argv = [...name.split(' ').filter(word => word !== ''), '--help'];
  const { exitCode, stdout, stderr } = await runCommand(argv, {
    env: { NO_COLOR: '1' },
    now: () => NOW,
    terminal: true,
    columns,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

async function readAllHelp(columns: number): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  for (const name of listNamesWithHelp()) pages.set(name, await readHelp(name, columns));
  return pages;
}

/** The width at which no line is wrapped. */
const pages = await readAllHelp(10_000);
const EXAMPLE = /^ {2}\$ /;
/** Examples and usages are never wrapped, so that they can be copied. */
const IN_ONE_LINE = /^(?: {2}\$|Usage:) /;
const splitLines = (page: string): string[] => page.split('\n').filter(line => line !== '');

const HEADINGS = [...Object.keys(COMMAND_GROUPS).map(group => `${group}:`), 'Commands:'];

/** Returns the help page of a command without its subcommands and without the parts that are on every page. */
function summarizeHelp(page: string): string[] {
  const [usage = '', about = '', ...rest] = splitLines(page);
  const details = rest.slice(
    0,
    rest.findIndex(line => /^\w[\w ]*:$/.test(line)),
  );
  const [below, above] = [rest.findIndex(line => HEADINGS.includes(line)), rest.indexOf('Examples:')];
  const own = below === -1 ? rest : rest.toSpliced(below, (above === -1 ? rest.length : above) - below);
  const lines = own.filter(line => line.startsWith('  ') && !line.startsWith('  -h, --help '));
  return [
    `${usage.replace('Usage: ', '')}: ${about}`,
    ...details.map(line => `  ${line}`),
    ...lines.map(line => line.replaceAll(/(?<=\S) {2,}/g, '  ')),
  ];
}

/** To approve changes, run: npx vitest run test/cli/help.test.ts -u, and read the diff. */
test('the help of every command matches the approved text', async () => {
  for (const page of pages.values()) expect(page).toMatch(/^Usage: carbon-mirror/);
  const tree = [...pages.values()].flatMap(summarizeHelp);
  await expect(`${tree.join('\n')}\n`).toMatchFileSnapshot('../fixtures/approved/help.txt');
});

test('the main help shows each command once, in its group', () => {
  const groups = (pages.get('') ?? '').split('\n\n').map(part => part.split('\n'));
  const shownGroups = groups
    .filter(([heading = '']) => HEADINGS.includes(heading))
    .map(([heading, ...lines]) => ({
      heading,
      names: lines.flatMap(line => /^ {2}(\S+)/.exec(line)?.[1] ?? []),
    }));
  const expected = Object.entries(COMMAND_GROUPS).map(([group, commands]) => ({
    heading: `${group}:`,
    names: Object.keys(commands),
  }));
  expect(shownGroups).toEqual([...expected, { heading: 'Commands:', names: ['help'] }]);
  const names = expected.flatMap(group => group.names);
  expect(new Set(names).size).toBe(names.length);
});

test.each([80, 120])(
  'help on %s columns has the same words, and wraps every line but examples and usages',
  async columns => {
    const joinLines = (page: string | undefined) => page?.split(/\s+/).join(' ');
    for (const [name, page] of await readAllHelp(columns)) {
      expect(joinLines(page)).toBe(joinLines(pages.get(name)));
      const long = splitLines(page).filter(line => line.length > columns && !IN_ONE_LINE.test(line));
      expect(long, name).toEqual([]);
    }
  },
);

test('reservations release is another name of reservations cancel', async () => {
  const help = await readHelp('reservations release', 100);
  expect(help).toBe(await readHelp('reservations cancel', 100));
  expect(help).toContain('Release reserved credits');
});

test('the overview of commands has the words stock and stale', async () => {
  const help = await readHelp('', 100);
  expect(help).toContain('stock that apps can reserve');
  expect(help).toContain('stale');
});

test('every summary in the help has at most ten words', () => {
  const summaries = (command: Command): string[] => [
    command.summary(),
    ...command.commands.flatMap(summaries),
  ];
  const all = defineProgram().commands.flatMap(summaries);
  expect(all.length).toBeGreaterThan(50);
  expect(all.filter(summary => summary.split(' ').length > 10)).toEqual([]);
});

function findUndescribed(command: Command): string[] {
  const usedArguments = command.registeredArguments.filter(each => command.usage().includes(each.name()));
  const undescribed = [...command.options, ...usedArguments].filter(({ description }) => description === '');
  return [
    ...(command.description() === '' ? [command.name()] : []),
    ...undescribed.map(each => `${command.name()} ${each.name()}`),
    ...command.commands.flatMap(findUndescribed),
  ];
}

test('every command, argument and option has a description', () => {
  expect(defineProgram().commands.flatMap(findUndescribed)).toEqual([]);
});

/** Replaces the actions of all commands: each only records that it was called. */
function recordCalls(command: Command, called: Set<string>, path: readonly string[] = []): Command {
  command.exitOverride().action(() => void called.add(path.join(' ')));
  for (const child of command.commands) recordCalls(child, called, [...path, child.name()]);
  return command;
}

test.each([
  [['retirements', 'totls'], 'totals', 'carbon-mirror retirements'],
  [['retirements', 'totls', '--help'], 'totals', 'carbon-mirror retirements'],
  [['retirements', 'help', 'totls'], 'totals', 'carbon-mirror retirements'],
  [['certificats', 'get', 'ID'], 'certificates', 'carbon-mirror'],
  [['help', 'certificats'], 'certificates', 'carbon-mirror'],
  [['-h', 'sandbox', 'strat'], 'start', 'carbon-mirror sandbox'],
  [['retirements', 'list', '--yaer', '2025'], '--year', 'carbon-mirror retirements list'],
])('%j exits with 2 and names the similar word and the help', async (argv, similar, path) => {
  const { exitCode, stdout, stderr } = await runCommand(argv, { env: {} });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(/unknown (command|option) '[\w-]+'\n\(Did you mean [\w-]+\?\)\n/);
  expect(stderr).toContain(`(Did you mean ${similar}?)`);
  expect(stderr).toContain(`See "${path} --help".`);
});

test('help before a command in a group prints the page of that command', async () => {
  const { exitCode, stdout } = await runCommand(['help', 'retirements', 'totals'], { env: {} });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('Usage: carbon-mirror retirements totals');
});

test('every example is a valid command line, and every command has one', async () => {
  const called = new Set<string>();
  const examples = [...pages.values()].flatMap(page => splitLines(page).filter(line => EXAMPLE.test(line)));
  for (const line of examples) {
    const [, argumentsText] = /^ {2}\$ (?:\w+=\S+ )*carbon-mirror (.*)/.exec(line) ?? [];
    if (argumentsText === undefined) continue;
    const program = recordCalls(defineProgram(), called).option('--env-file <file>');
    await program.parseAsync(splitWords(argumentsText), { from: 'user' });
  }
  expect((await listCommands()).map(({ name }) => name).filter(name => !called.has(name))).toEqual([]);
});
