/** What the exit code of a command says. */
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

/** A fault that was foreseen: shown as its message and, on the next line, what to do. Never a stack trace. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault';
  readonly exitCode: ExitCode;
  /** What is said, a line each: a line end within one is somebody else's. */
  readonly lines: readonly string[];

  constructor(exitCode: ExitCode, message: Lines, advice: Lines = []) {
    super([message].flat().join('\n'));
    this.exitCode = exitCode;
    this.lines = [message, advice].flat();
  }
}

/** What was typed or set cannot be meant. */
export function usageFault(message: Lines, advice?: Lines): CommandFault {
  return new CommandFault(EXIT.usage, message, advice);
}

/** What was looked at is not as it should be. */
export function checkFault(message: Lines, advice?: Lines): CommandFault {
  return new CommandFault(EXIT.checkFailed, message, advice);
}

export function notThereFault(message: Lines, advice?: Lines): CommandFault {
  return new CommandFault(EXIT.notThere, message, advice);
}

/** Nothing is ever written over. */
export function isThere(file: string): CommandFault {
  return usageFault(`${file} already exists.`, 'Choose a new name, or remove it first.');
}

/** For work that can be left at any point: Ctrl-C ends it here. */
export function demandNotInterrupted(signal: AbortSignal, state = 'Interrupted.'): void {
  if (signal.aborted) throw new CommandFault(EXIT.interrupted, state);
}
