import { EXIT, type ExitCode } from './exit.js';

/** The text of an error. Each text of a list is printed on a line of its own. */
type OneOrMoreLines = string | readonly string[];

/** An expected failure of a command: its exit code, and lines that say what happened and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  /** Lines to print. Line breaks inside a line are removed when it is printed, because they came from outside. */
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

/** Creates the error for an id or name that does not exist in the mirror or at the registry. */
export function createNotFoundError(message: OneOrMoreLines, advice?: OneOrMoreLines): CommandError {
  return new CommandError(EXIT.notFound, message, advice);
}

/** Creates the error for an output file that already exists. */
export function createFileExistsError(file: string): CommandError {
  return createUsageError(`${file} already exists.`, 'Choose a new name, or remove it first.');
}

/** Throws a `CommandError` if the user pressed Ctrl-C. Call this function where work can stop safely. */
export function throwIfInterrupted(signal: AbortSignal, message = 'Interrupted.'): void {
  if (signal.aborted) throw new CommandError(EXIT.interrupted, message);
}
