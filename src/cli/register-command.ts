import { Argument, type Command as CommanderCommand, Option } from 'commander';
import type { Command } from './command.js';
import { runInContext } from './open-context.js';
import { toOptionName, type Parameter } from './options.js';
import type { Io } from './io.js';

/** Adds a command and its subcommands to a commander program. Calling it runs the command in a context of its own. */
export function registerCommand(parent: CommanderCommand, name: string, command: Command, io: Io): void {
  const { summary, details, options = {}, formats = {}, examples = [], commands = {}, run } = command;
  const registered = parent.command(name).summary(summary);
  registered.description(details === undefined ? summary : `${summary}\n\n${details}`);
  const args = Object.entries(command.args ?? {});
  for (const [, parameter] of args) registered.addArgument(createArgument(parameter, io));
  for (const [key, parameter] of Object.entries(options))
    registered.addOption(createOption(key, parameter, io));
  if (formats.json !== undefined) registered.addOption(new Option('--json', formats.json));
  if (formats.csv !== undefined) registered.addOption(new Option('--csv', formats.csv).conflicts('json'));
  for (const [childName, child] of Object.entries(commands))
    registerCommand(registered, childName, child, io);
  const children = Object.entries(commands).map(([childName, child]) => `  ${childName}: ${child.summary}`);
  if (children.length > 0) registered.showHelpAfterError(['Available commands:', ...children].join('\n'));
  if (examples.length > 0)
    registered.addHelpText('after', `\nExamples:\n${examples.map(line => `  $ ${line}`).join('\n')}`);
  if (run === undefined) return;
  registered.action(async () => {
    const positional = Object.fromEntries(args.map(([key], index) => [key, registered.processedArgs[index]]));
    const given: Record<string, unknown> = { ...registered.opts(), ...positional };
    await runInContext({ io, format: given['json'] ? 'json' : given['csv'] ? 'csv' : 'table' }, context =>
      run(context, given),
    );
  });
}

function createArgument(parameter: Parameter<unknown>, io: Io): Argument {
  const { placeholder, choices, isRequired } = parameter;
  const name = isRequired ? `<${placeholder}>` : `[${placeholder}]`;
  const argument = new Argument(name, getDescription(parameter, io));
  if (choices !== undefined) argument.argChoices = [...choices];
  return argument;
}

function createOption(key: string, parameter: Parameter<unknown>, io: Io): Option {
  const { placeholder, choices, isRequired = false, isNegated = false, defaultText } = parameter;
  const name = toOptionName(isNegated ? `no-${key}` : key);
  const flags = placeholder === null ? name : `${name} <${placeholder}>`;
  const description = `${getDescription(parameter, io)}${isRequired ? ' (required)' : ''}`;
  const option = new Option(flags, description).makeOptionMandatory(isRequired);
  if (choices !== undefined) option.argChoices = [...choices];
  return defaultText === undefined ? option : option.default(defaultText);
}

function getDescription({ description }: Parameter<unknown>, io: Io): string {
  return typeof description === 'string' ? description : description(io);
}
