import { Argument, type Command as CommanderCommand, Option } from 'commander';
import type { Command } from './define-command.js';
import { runInContext } from './open-context.js';
import { toOptionName, type CommandParameter } from './options.js';
import type { Io } from './io.js';

/** Adds a command and all its subcommands to a commander program. */
export function registerCommand(parent: CommanderCommand, name: string, command: Command, io: Io): void {
  const { alias, summary, details, options = {}, formats = {}, examples = [], commands = {}, run } = command;
  const registered = parent.command(name).summary(summary);
  if (alias !== undefined) registered.alias(alias);
  registered.description(details === undefined ? summary : `${summary}\n\n${details}`);
  const args = Object.entries(command.args ?? {});
  for (const [, parameter] of args) registered.addArgument(createArgument(parameter, io));
  for (const [key, parameter] of Object.entries(options))
    registered.addOption(createOption(key, parameter, io));
  if (formats.json !== undefined) registered.addOption(new Option('--json', formats.json));
  if (formats.csv !== undefined) registered.addOption(new Option('--csv', formats.csv).conflicts('json'));
  for (const [subcommandName, subcommand] of Object.entries(commands))
    registerCommand(registered, subcommandName, subcommand, io);
  const summaries = Object.entries(commands).map(
    ([subcommand, definition]) => `  ${subcommand}: ${definition.summary}`,
  );
  const overview = summaries.length === 0 ? [] : ['Available commands:', ...summaries];
  registered.showHelpAfterError([...overview, `See "${formatPath(registered)} --help".`].join('\n'));
  if (examples.length > 0)
    registered.addHelpText('after', `\nExamples:\n${examples.map(line => `  $ ${line}`).join('\n')}`);
  if (run === undefined) return;
  registered.action(async () => {
    const positional = Object.fromEntries(args.map(([key], index) => [key, registered.processedArgs[index]]));
    const rawParameters: Record<string, unknown> = { ...registered.opts(), ...positional };
    const format = rawParameters['json'] ? 'json' : rawParameters['csv'] ? 'csv' : 'table';
    await runInContext({ io, format }, context => run(context, rawParameters));
  });
}

/** Returns the words that run a command, such as `carbon-mirror retirements list`. */
function formatPath(command: CommanderCommand): string {
  return command.parent === null ? command.name() : `${formatPath(command.parent)} ${command.name()}`;
}

/** Converts a positional parameter to a commander argument. */
function createArgument(parameter: CommandParameter<unknown>, io: Io): Argument {
  const { placeholder, choices, isRequired } = parameter;
  const name = isRequired ? `<${placeholder}>` : `[${placeholder}]`;
  const argument = new Argument(name, getDescription(parameter, io));
  if (choices !== undefined) argument.argChoices = [...choices];
  return argument;
}

/** Converts a parameter to a commander option. `key` is the parameter name, such as `creditId`. */
function createOption(key: string, parameter: CommandParameter<unknown>, io: Io): Option {
  const { placeholder, choices, isRequired = false, isNegated = false, defaultText } = parameter;
  const name = toOptionName(isNegated ? `no-${key}` : key);
  const flags = placeholder === null ? name : `${name} <${placeholder}>`;
  const description = `${getDescription(parameter, io)}${isRequired ? ' (required)' : ''}`;
  const option = new Option(flags, description).makeOptionMandatory(isRequired);
  if (choices !== undefined) option.argChoices = [...choices];
  return defaultText === undefined ? option : option.default(defaultText);
}

/** Returns the help text of a parameter. */
function getDescription({ description }: CommandParameter<unknown>, io: Io): string {
  return typeof description === 'string' ? description : description(io);
}
