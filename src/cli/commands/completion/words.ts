import type { Command } from 'commander';

/** A word that may come next, and what it is. */
export interface Word {
  readonly text: string;
  readonly meaning: string;
}

/** What may follow one command, groups and the program itself included. */
export interface Position {
  /** As in `sandbox apps`; empty for the program. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
  /** Of options and arguments that take one of a few words: after an option its flag, else empty. */
  readonly choices: readonly Choice[];
}

interface Choice {
  readonly after: string;
  readonly words: readonly string[];
}

export function positionsOf(
  command: Command,
  path: readonly string[] = [],
  global: readonly Word[] = [],
): Position[] {
  const own = optionsOf(command);
  const above = path.length === 0 ? own : global;
  const position: Position = {
    path: path.join(' '),
    commands: command.commands.map(child => ({ text: child.name(), meaning: child.description() })),
    options: [
      ...own,
      ...(path.length === 0 ? [] : global),
      { text: '--help', meaning: 'show what it takes' },
    ],
    choices: choicesOf(command),
  };
  return [position, ...command.commands.flatMap(child => positionsOf(child, [...path, child.name()], above))];
}

function optionsOf(command: Command): Word[] {
  return command.options.flatMap(({ long, description, hidden }) =>
    long === undefined || long === null || hidden ? [] : { text: long, meaning: description },
  );
}

function choicesOf(command: Command): Choice[] {
  const ofOptions = command.options.flatMap(({ long, argChoices }) =>
    long && argChoices ? { after: long, words: argChoices } : [],
  );
  const ofArguments = command.registeredArguments.flatMap(({ argChoices }) =>
    argChoices ? { after: '', words: argChoices } : [],
  );
  return [...ofOptions, ...ofArguments];
}

/** What may be written at a place where no option waits for its value. */
export function wordsAt({ commands, options, choices }: Position): string[] {
  const named = choices.filter(({ after }) => after === '').flatMap(({ words }) => words);
  return [...commands.map(({ text }) => text), ...named, ...options.map(({ text }) => text)];
}
