import type { Context } from './context.js';
import type { Io } from './io.js';
import type { AllTaken, Meant } from './options.js';

/** How an answer can be had beside what a person reads: the words of `--json` and `--csv`. */
interface Prints {
  readonly json?: string;
  readonly csv?: string;
}

/** A command is a value: what a person types, what it says of itself, and what it does. */
export interface Command {
  readonly says: string;
  /** What stands in its place after the command, in their order. */
  readonly words?: AllTaken;
  readonly options?: AllTaken;
  readonly prints?: Prints;
  readonly examples?: readonly string[];
  /** What may be said after its name. */
  readonly commands?: Readonly<Record<string, Command>>;
  /** A group does nothing by itself. */
  readonly run?: (context: Context, given: Given) => Promise<unknown>;
}

export interface CommandGroup extends Command {
  readonly commands: Readonly<Record<string, Command>>;
}

/** The forms that every list has. */
export const ROWS: Prints = { json: 'print the rows as JSON', csv: 'print the rows as CSV' };

type Given = Readonly<Record<string, unknown>>;

interface Written<W extends AllTaken, O extends AllTaken> extends Omit<Command, 'run'> {
  readonly words?: W;
  readonly options?: O;
  readonly run: (context: Context, given: Meant<W> & Meant<O>) => Promise<unknown>;
}

// biome-ignore lint/complexity/noBannedTypes: a command that takes nothing
export function command<W extends AllTaken = {}, O extends AllTaken = {}>(written: Written<W, O>): Command {
  const all = { ...written.words, ...written.options };
  return {
    ...written,
    run: (context, given) => written.run(context, meant<Meant<W> & Meant<O>>(all, given, context.io)),
  };
}

/** What was typed, each as its own kind reads it. */
function meant<M>(all: AllTaken, given: Given, io: Io): M {
  const read: unknown[][] = Object.entries(all).map(([name, taken]) => [name, taken.read(given[name], io)]);
  return Object.fromEntries(read);
}
