import type { Command as Defined } from 'commander';
import type { Context } from './context.js';
import type { Io } from './io.js';
import type { AllTaken, Meant } from './taken.js';

/** A command is a value: what a person types, what it says of itself, and what it does. */
export interface Command {
  readonly says: string;
  /** What stands in its place after the command, in their order. */
  readonly words: AllTaken;
  readonly options: AllTaken;
  readonly prints: Prints;
  readonly examples: Examples;
  /** What may be said after its name. */
  readonly commands: Readonly<Record<string, Command>>;
  readonly run: (context: Context, given: Given) => Promise<unknown>;
}

export interface CommandGroup {
  readonly says: string;
  readonly examples?: Examples;
  readonly commands: Readonly<Record<string, Command | CommandGroup>>;
}

/** How rows can be had beside a table for people: the words of `--json` and `--csv`, and whether they go into a file. */
interface Prints {
  readonly json?: string;
  readonly csv?: string;
  readonly file?: boolean;
}

/** The forms that every list has. */
export const ROWS = { json: 'print the rows as JSON', csv: 'print the rows as CSV', file: true } as const;

/** The day that goes on is given, for examples that ask of it. */
type Examples = readonly string[] | ((today: string) => readonly string[]);

type Given = Readonly<Record<string, unknown>>;

interface Written<W extends AllTaken, O extends AllTaken> {
  readonly says: string;
  readonly words?: W;
  readonly options?: O;
  readonly prints?: Prints;
  readonly examples?: Examples;
  readonly commands?: Readonly<Record<string, Command>>;
  readonly run: (context: Context, given: Meant<W> & Meant<O>) => Promise<unknown>;
}

// biome-ignore lint/complexity/noBannedTypes: a command that takes nothing
export function command<W extends AllTaken = {}, O extends AllTaken = {}>(written: Written<W, O>): Command {
  const { says, words = {}, options = {}, prints = {}, examples: lines = [], commands = {} } = written;
  return {
    says,
    words,
    options,
    prints,
    examples: lines,
    commands,
    run: (context, given) =>
      written.run(context, meant<Meant<W> & Meant<O>>({ ...words, ...options }, given, context.io)),
  };
}

/** What was typed, each as its own kind reads it. */
function meant<M>(all: AllTaken, given: Given, io: Io): M {
  const read: unknown[][] = Object.entries(all).map(([name, taken]) => [name, taken.read(given[name], io)]);
  return Object.fromEntries(read);
}

/** Examples under a command's help. */
export function examples(described: Defined, lines: readonly string[]): Defined {
  if (lines.length === 0) return described;
  return described.addHelpText('after', `\nExamples:\n${lines.map(line => `  $ ${line}`).join('\n')}`);
}
