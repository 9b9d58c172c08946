import { Argument, type Command as Defined, Option } from 'commander';
import { type Command, type CommandGroup, examples } from './command.js';
import { withContext } from './open-context.js';
import { addFile, addFormats, type FileOptions, formatOf } from './formats.js';
import { today } from './instant.js';
import type { Io } from './io.js';
import { intoFile } from './output/into-file.js';
import { findMirror } from './connect/find-mirror.js';
import { optionName, type Taken } from './taken.js';

export type AnyCommand = Command | CommandGroup;

export function defineAny(program: Defined, name: string, any: AnyCommand | undefined, io: Io): void {
  if (any === undefined) return;
  if ('run' in any) defineCommand(program, name, any, io);
  else defineGroup(program, name, any, io);
}

/** Says to commander what a command takes, and does it when it is called. */
function defineCommand(parent: Defined, name: string, command: Command, io: Io): void {
  const defined = parent.command(name).description(command.says);
  const words = Object.entries(command.words);
  for (const [, taken] of words) defined.addArgument(wordOf(taken, io));
  for (const [key, taken] of Object.entries(command.options)) defined.addOption(optionOf(key, taken, io));
  addForms(defined, command.prints);
  defineCommands(defined, command.commands, io);
  examples(defined, linesOf(command.examples, io));
  defined.action(async () => {
    const placed = words.map(([key], at) => [key, defined.processedArgs[at]] as const);
    await run(io, defined, command, Object.fromEntries(placed));
  });
}

function defineGroup(parent: Defined, name: string, group: CommandGroup, io: Io): void {
  const defined = parent.command(name).description(group.says);
  defineCommands(defined, group.commands, io);
  examples(defined, linesOf(group.examples ?? [], io));
}

function defineCommands(parent: Defined, commands: CommandGroup['commands'], io: Io): void {
  for (const [name, below] of Object.entries(commands)) {
    if ('run' in below) defineCommand(parent, name, below, io);
    else defineGroup(parent, name, below, io);
  }
}

/** As of one instant is as of the same for what is printed and for what is said of it. */
async function run(io: Io, defined: Defined, command: Command, placed: Record<string, unknown>) {
  const given: FileOptions & { asOf?: string } = { ...defined.opts(), ...placed };
  const asked = { command: pathOf(defined), ...placed };
  await intoFile({ io, findMirror }, asked, given, (out, form) =>
    withContext({ io: out, format: formatOf(form), asked }, context => command.run(context, { ...form })),
  );
}

function wordOf(taken: Taken<unknown>, io: Io): Argument {
  const { shows, choices, isNeeded } = taken;
  const argument = new Argument(isNeeded ? `<${shows}>` : `[${shows}]`, saysOf(taken, io));
  return choices === undefined ? argument : argument.choices(choices);
}

function optionOf(key: string, taken: Taken<unknown>, io: Io): Option {
  const { shows, choices, conflicts = [], isNeeded = false, isOn = false } = taken;
  const fallback = typeof taken.fallback === 'function' ? taken.fallback(io) : taken.fallback;
  const flags = `${optionName(isOn ? `no-${key}` : key)}${shows === null ? '' : ` <${shows}>`}`;
  const option = new Option(flags, saysOf(taken, io)).makeOptionMandatory(isNeeded).conflicts([...conflicts]);
  if (choices !== undefined) option.choices(choices);
  return fallback === undefined ? option : option.default(fallback);
}

function addForms(defined: Defined, { json, csv, file }: Command['prints']): void {
  if (csv !== undefined) addFormats(defined, json, csv);
  else if (json !== undefined) defined.option('--json', json);
  if (file) addFile(defined);
}

function saysOf({ says }: Taken<unknown>, io: Io): string {
  return typeof says === 'string' ? says : says(io);
}

function linesOf(lines: Command['examples'], io: Io): readonly string[] {
  return typeof lines === 'function' ? lines(today(io)) : lines;
}

/** As in `jobs list`. */
function pathOf(defined: Defined): string {
  const { parent } = defined;
  return parent?.parent ? `${pathOf(parent)} ${defined.name()}` : defined.name();
}
