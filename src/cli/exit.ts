/** The exit codes of commands. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  checkFailed: 3,
  notAuthorized: 4,
  unreachable: 5,
  notFound: 6,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

type OneOrMoreLines = string | readonly string[];

/** An expected failure of a command. Prints a message and what to do, and never a stack trace. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  /** Lines to print. A line break inside a line came from outside and is removed. */
  readonly lines: readonly string[];

  constructor(exitCode: ExitCode, message: OneOrMoreLines, advice: OneOrMoreLines = []) {
    super([message].flat().join('\n'));
    this.exitCode = exitCode;
    this.lines = [message, advice].flat();
  }
}

/** Creates the error for an invalid command line or setting. */
export function createUsageError(message: OneOrMoreLines, advice?: OneOrMoreLines): CommandError {
  return new CommandError(EXIT.usage, message, advice);
}

/** Creates the error for a check that failed. */
export function createCheckError(message: OneOrMoreLines, advice?: OneOrMoreLines): CommandError {
  return new CommandError(EXIT.checkFailed, message, advice);
}

/** Creates the error for something named that does not exist. */
export function createNotFoundError(message: OneOrMoreLines, advice?: OneOrMoreLines): CommandError {
  return new CommandError(EXIT.notFound, message, advice);
}

/** Creates the error for an output file that already exists: commands never overwrite files. */
export function createFileExistsError(file: string): CommandError {
  return createUsageError(`${file} already exists.`, 'Choose a new name, or remove it first.');
}

/** Ends the command here if Ctrl-C was pressed. Call it where the work can stop safely. */
export function throwIfInterrupted(signal: AbortSignal, state = 'Interrupted.'): void {
  if (signal.aborted) throw new CommandError(EXIT.interrupted, state);
}
