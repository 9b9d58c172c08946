import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { GROUPS } from '../../src/cli/commands.js';
import { runCommand } from '../support/command.js';
import { wordsOf } from '../support/command-lines.js';
import { defineProgram, listCommands, listHelps } from '../support/commands.js';

const NOW = Date.UTC(2026, 0, 31, 12);

async function helpOf(name: string, columns: number): Promise<string> {
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

async function helps(columns: number): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  for (const name of listHelps()) pages.set(name, await helpOf(name, columns));
  return pages;
}

/** Nothing is wrapped there. */
const pages = await helps(10_000);
const EXAMPLE = /^ {2}\$ /;
/** What is to be copied, or is one form, stands in one line. */
const IN_ONE_LINE = /^(?: {2}\$|Usage:) /;
const linesOf = (page: string): string[] => page.split('\n').filter(line => line !== '');

const HEADINGS = [...Object.keys(GROUPS).map(group => `${group}:`), 'Commands:'];

/** A page as a branch: what other branches say, and what stands on every page, is left out. */
function branchOf(page: string): string[] {
  const [usage = '', about = '', ...rest] = linesOf(page);
  const [below, above] = [rest.findIndex(line => HEADINGS.includes(line)), rest.indexOf('Examples:')];
  const own = below === -1 ? rest : rest.toSpliced(below, (above === -1 ? rest.length : above) - below);
  const lines = own.filter(line => line.startsWith('  ') && !line.startsWith('  -h, --help '));
  return [
    `${usage.replace('Usage: ', '')}: ${about}`,
    ...lines.map(line => line.replaceAll(/(?<=\S) {2,}/g, '  ')),
  ];
}

/** To approve what changed: npx vitest run test/cli/help.test.ts -u, and read the difference. */
test('what help says of every command, argument, option and example was approved', async () => {
  for (const page of pages.values()) expect(page).toMatch(/^Usage: carbon-mirror/);
  const tree = [...pages.values()].flatMap(branchOf);
  await expect(`${tree.join('\n')}\n`).toMatchFileSnapshot('../fixtures/approved/help.txt');
});

test('the first help shows each command once, below what a person does with it', () => {
  const groups = (pages.get('') ?? '').split('\n\n').map(part => part.split('\n'));
  const shown = groups
    .filter(([heading = '']) => HEADINGS.includes(heading))
    .map(([heading, ...lines]) => ({
      heading,
      names: lines.flatMap(line => /^ {2}(\S+)/.exec(line)?.[1] ?? []),
    }));
  const expected = Object.entries(GROUPS).map(([group, commands]) => ({
    heading: `${group}:`,
    names: Object.keys(commands),
  }));
  expect(shown).toEqual([...expected, { heading: 'Commands:', names: ['help'] }]);
  const names = expected.flatMap(group => group.names);
  expect(new Set(names).size).toBe(names.length);
});

/** What nobody can keep in mind nobody finds. The sandbox is another program in all but its file. */
test('there are at most 66 commands beside those of the sandbox', async () => {
  const own = (await listCommands()).filter(({ name }) => !name.startsWith('sandbox '));
  expect(own.length).toBeGreaterThan(40);
  expect(own.length).toBeLessThanOrEqual(66);
});

test.each([80, 120])(
  'help says the same on %s columns, and no line is longer but an example or a usage',
  async columns => {
    const words = (page: string | undefined) => page?.split(/\s+/).join(' ');
    for (const [name, page] of await helps(columns)) {
      expect(words(page)).toBe(words(pages.get(name)));
      const long = linesOf(page).filter(line => line.length > columns && !IN_ONE_LINE.test(line));
      expect(long, name).toEqual([]);
    }
  },
);

function withoutSentence(command: Command): string[] {
  const taken = command.registeredArguments.filter(each => command.usage().includes(each.name()));
  const mute = [...command.options, ...taken].filter(({ description }) => description === '');
  return [
    ...(command.description() === '' ? [command.name()] : []),
    ...mute.map(each => `${command.name()} ${each.name()}`),
    ...command.commands.flatMap(withoutSentence),
  ];
}

test('every command, argument and option has its sentence', () => {
  expect(defineProgram().commands.flatMap(withoutSentence)).toEqual([]);
});

/** Nothing is done, but that the words are taken for a command is heard. */
function hear(command: Command, heard: Set<string>, path: readonly string[] = []): Command {
  command.exitOverride().action(() => void heard.add(path.join(' ')));
  for (const child of command.commands) hear(child, heard, [...path, child.name()]);
  return command;
}

test('every example is one that the program takes, and every command has one', async () => {
  const heard = new Set<string>();
  const examples = [...pages.values()].flatMap(page => linesOf(page).filter(line => EXAMPLE.test(line)));
  for (const line of examples) {
    const [, words] = /^ {2}\$ (?:\w+=\S+ )*carbon-mirror (.*)/.exec(line) ?? [];
    if (words === undefined) continue;
    const program = hear(defineProgram(), heard).option('--env-file <file>');
    await program.parseAsync(wordsOf(words), { from: 'user' });
  }
  expect((await listCommands()).map(({ name }) => name).filter(name => !heard.has(name))).toEqual([]);
});
