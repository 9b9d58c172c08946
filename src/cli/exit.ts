/** The exit codes of commands. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  checkFailed: 3,
  notAuthorized: 4,
  unreachable: 5,
  notThere: 6,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

type Lines = string | readonly string[];

/** An expected failure of a command. Prints a message and what to do, and never a stack trace. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault';
  readonly exitCode: ExitCode;
  /** Lines to print. A line break inside a line came from outside and is removed. */
  readonly lines: readonly string[];

  constructor(exitCode: ExitCode, message: Lines, advice: Lines = []) {
    super([message].flat().join('\n'));
    this.exitCode = exitCode;
    this.lines = [message, advice].flat();
  }
}

/** Creates the error for an invalid command line or setting. */
export function usageFault(message: Lines, advice?: Lines): CommandFault {
  return new CommandFault(EXIT.usage, message, advice);
}

/** Creates the error for a check that failed. */
export function checkFault(message: Lines, advice?: Lines): CommandFault {
  return new CommandFault(EXIT.checkFailed, message, advice);
}

/** Creates the error for something named that does not exist. */
export function notThereFault(message: Lines, advice?: Lines): CommandFault {
  return new CommandFault(EXIT.notThere, message, advice);
}

/** Creates the error for an output file that already exists: commands never overwrite files. */
export function alreadyExistsFault(file: string): CommandFault {
  return usageFault(`${file} already exists.`, 'Choose a new name, or remove it first.');
}

/** Ends the command here if Ctrl-C was pressed. Call it where the work can stop safely. */
export function demandNotInterrupted(signal: AbortSignal, state = 'Interrupted.'): void {
  if (signal.aborted) throw new CommandFault(EXIT.interrupted, state);
}
