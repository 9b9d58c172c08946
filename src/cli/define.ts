import { Argument, type Command as Defined, Option } from 'commander';
import type { Command } from './command.js';
import { withContext } from './open-context.js';
import { optionName, type Taken } from './options.js';
import type { Io } from './io.js';

/** Says to commander what a command takes, and does it when it is called. */
export function define(parent: Defined, name: string, command: Command, io: Io): void {
  const { says, options = {}, prints = {}, examples = [], commands = {}, run } = command;
  const defined = parent.command(name).description(says);
  const words = Object.entries(command.words ?? {});
  for (const [, taken] of words) defined.addArgument(wordOf(taken, io));
  for (const [key, taken] of Object.entries(options)) defined.addOption(optionOf(key, taken, io));
  if (prints.json !== undefined) defined.addOption(new Option('--json', prints.json));
  if (prints.csv !== undefined) defined.addOption(new Option('--csv', prints.csv).conflicts('json'));
  for (const [below, its] of Object.entries(commands)) define(defined, below, its, io);
  const below = Object.entries(commands).map(([called, its]) => `  ${called}: ${its.says}`);
  if (below.length > 0) defined.showHelpAfterError(['It has:', ...below].join('\n'));
  if (examples.length > 0)
    defined.addHelpText('after', `\nExamples:\n${examples.map(line => `  $ ${line}`).join('\n')}`);
  if (run === undefined) return;
  defined.action(async () => {
    const placed = Object.fromEntries(words.map(([key], at) => [key, defined.processedArgs[at]]));
    const given: Record<string, unknown> = { ...defined.opts(), ...placed };
    await withContext({ io, format: given['json'] ? 'json' : given['csv'] ? 'csv' : 'table' }, context =>
      run(context, given),
    );
  });
}

function wordOf(taken: Taken<unknown>, io: Io): Argument {
  const { shows, choices, isNeeded } = taken;
  const argument = new Argument(isNeeded ? `<${shows}>` : `[${shows}]`, saysOf(taken, io));
  if (choices !== undefined) argument.argChoices = [...choices];
  return argument;
}

function optionOf(key: string, taken: Taken<unknown>, io: Io): Option {
  const { shows, choices, isNeeded = false, isOn = false, fallback } = taken;
  const flags = `${optionName(isOn ? `no-${key}` : key)}${shows === null ? '' : ` <${shows}>`}`;
  const says = `${saysOf(taken, io)}${isNeeded ? ' (required)' : ''}`;
  const option = new Option(flags, says).makeOptionMandatory(isNeeded);
  if (choices !== undefined) option.argChoices = [...choices];
  return fallback === undefined ? option : option.default(fallback);
}

function saysOf({ says }: Taken<unknown>, io: Io): string {
  return typeof says === 'string' ? says : says(io);
}
