import type { Command } from 'commander';
import { examples } from '../../command.js';
import { emit, type Io } from '../../io.js';
import { EXIT } from '../../exit.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('man')
    .description('Print the manual page')
    .action(async () => await emit(io, manual(program)));
  examples(command, ['carbon-mirror man > carbon-mirror.1', 'man -l carbon-mirror.1']);
}

/** A page in the language of man, made of what the help says. */
function manual(program: Command): string {
  return [
    '.TH CARBON-MIRROR 1',
    '.SH NAME',
    `${roff(program.name())} \\- ${roff(program.description())}`,
    '.SH SYNOPSIS',
    '.B carbon\\-mirror',
    'COMMAND [OPTIONS]',
    '.SH OPTIONS OF EVERY COMMAND',
    ...optionsOf(program),
    '.SH COMMANDS',
    ...program.commands.flatMap(child => section(child, [])),
    '.SH EXIT STATUS',
    ...Object.entries(EXIT).flatMap(([name, code]) => ['.TP', `.B ${code}`, roff(inWords(name))]),
    '',
  ].join('\n');
}

function section(command: Command, path: readonly string[]): string[] {
  const names = [...path, command.name()];
  if (command.commands.length > 0) return command.commands.flatMap(child => section(child, names));
  const taken = command.registeredArguments.map(argument => {
    const shown = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${shown}>` : `[${shown}]`;
  });
  return [
    `.SS ${roff([...names, ...taken].join(' '))}`,
    roff(command.description()),
    ...command.registeredArguments.flatMap(argument => [
      '.TP',
      `.B ${roff(argument.name())}`,
      roff(argument.description),
    ]),
    ...optionsOf(command),
  ];
}

function optionsOf(command: Command): string[] {
  return command.options
    .filter(({ hidden }) => !hidden)
    .flatMap(({ flags, description, argChoices }) => [
      '.TP',
      `.B ${roff(flags)}`,
      roff(argChoices ? `${description} (${argChoices.join(', ')})` : description),
    ]);
}

function inWords(name: string): string {
  return name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}

/** A line of text in which nothing is a request. */
function roff(text: string): string {
  const line = text.replaceAll('\\', '\\\\').replaceAll('-', '\\-').replaceAll('\n', ' ');
  return /^[.']/.test(line) ? `\\&${line}` : line;
}
