import type { CommandContext } from './context.js';
import type { Io } from './io.js';
import type { ParsedParameters, ParameterSet } from './options.js';

/** The output formats of a command besides text for people, with the help text of their options. */
interface OutputFormats {
  readonly json?: string;
  readonly csv?: string;
}

/** A command of the program, or a group of commands. The command line and the help are derived from it. */
export interface Command {
  /** An imperative phrase of at most ten words. */
  readonly summary: string;
  /** Shown below the summary in the command's own help. */
  readonly details?: string;
  /** Positional arguments, in order. */
  readonly args?: ParameterSet;
  readonly options?: ParameterSet;
  readonly formats?: OutputFormats;
  readonly examples?: readonly string[];
  readonly commands?: Readonly<Record<string, Command>>;
  /** Undefined for a group that only has subcommands. */
  readonly run?: (context: CommandContext, given: RawParameters) => Promise<unknown>;
}

export interface CommandGroup extends Command {
  readonly commands: Readonly<Record<string, Command>>;
}

/** The formats of commands that print rows. */
export const ROW_FORMATS: OutputFormats = { json: 'print the rows as JSON', csv: 'print the rows as CSV' };

/** Values by parameter name, as commander read them from the command line. */
type RawParameters = Readonly<Record<string, unknown>>;

interface CommandDefinition<A extends ParameterSet, O extends ParameterSet> extends Omit<Command, 'run'> {
  readonly args?: A;
  readonly options?: O;
  readonly run: (
    context: CommandContext,
    given: ParsedParameters<A> & ParsedParameters<O>,
  ) => Promise<unknown>;
}

/** Creates a command whose `run` receives its arguments and options parsed and typed. */
// biome-ignore lint/complexity/noBannedTypes: a command without parameters
export function defineCommand<A extends ParameterSet = {}, O extends ParameterSet = {}>(
  definition: CommandDefinition<A, O>,
): Command {
  const parameters = { ...definition.args, ...definition.options };
  return {
    ...definition,
    run: (context, given) =>
      definition.run(
        context,
        parseArguments<ParsedParameters<A> & ParsedParameters<O>>(parameters, given, context.io),
      ),
  };
}

function parseArguments<Parsed>(parameters: ParameterSet, given: RawParameters, io: Io): Parsed {
  const parsed: unknown[][] = Object.entries(parameters).map(([name, parameter]) => [
    name,
    parameter.parse(given[name], io),
  ]);
  return Object.fromEntries(parsed);
}
