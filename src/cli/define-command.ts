import type { CommandContext } from './context.js';
import type { Io } from './io.js';
import type { ParsedParameters, ParameterSet } from './options.js';

/** The help texts of `--json` and `--csv`; a command has only the formats that are defined here. */
interface OutputFormats {
  readonly json?: string;
  readonly csv?: string;
}

/** A command of the program, or a group of commands. Its command-line options and its help are derived from this. */
export interface Command {
  /** Another name of the command. */
  readonly alias?: string;
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
  readonly run?: (context: CommandContext, rawParameters: RawParameters) => Promise<unknown>;
}

/** A command that has subcommands. */
export interface CommandGroup extends Command {
  readonly commands: Readonly<Record<string, Command>>;
}

/** The output formats of commands that print rows. */
export const ROW_FORMATS: OutputFormats = { json: 'print the rows as JSON', csv: 'print the rows as CSV' };

/** Values by parameter name, as commander read them from the command line, not parsed yet. */
type RawParameters = Readonly<Record<string, unknown>>;

/** A command whose `run` receives parsed parameters instead of raw ones. */
interface CommandDefinition<A extends ParameterSet, O extends ParameterSet> extends Omit<Command, 'run'> {
  readonly args?: A;
  readonly options?: O;
  readonly run: (
    context: CommandContext,
    parameters: ParsedParameters<A> & ParsedParameters<O>,
  ) => Promise<unknown>;
}

/** Creates a command. Its `run` function receives parsed, typed values. */
// biome-ignore lint/complexity/noBannedTypes: a command without parameters
export function defineCommand<A extends ParameterSet = {}, O extends ParameterSet = {}>(
  definition: CommandDefinition<A, O>,
): Command {
  const parameters = { ...definition.args, ...definition.options };
  type ParameterValues = ParsedParameters<A> & ParsedParameters<O>;
  return {
    ...definition,
    run: (context, rawParameters) =>
      definition.run(context, parseParameters<ParameterValues>(parameters, rawParameters, context.io)),
  };
}

/** Parses raw values from the command line. Returns an object with the parsed value of each parameter. */
function parseParameters<Values>(parameters: ParameterSet, rawParameters: RawParameters, io: Io): Values {
  const parsed: unknown[][] = Object.entries(parameters).map(([name, parameter]) => [
    name,
    parameter.parse(rawParameters[name], io),
  ]);
  return Object.fromEntries(parsed);
}
