import { hideValues, secretValues } from '../app/config/hidden.js';
import { createMask } from '../registry/http/mask.js';
import { describeDamage } from './faults/damage.js';
import { adviceFor } from './faults/registry-advice.js';
import { describeSystemFault } from './faults/system-fault.js';

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

/** For work that can be left at any point: Ctrl-C ends it here. */
export function demandNotInterrupted(signal: AbortSignal, state = 'Interrupted.'): void {
  if (signal.aborted) throw new CommandFault(EXIT.interrupted, state);
}

/** Registry errors are known by their code, so that a quick command need not load the client. */
const EXIT_BY_CODE: Readonly<Record<string, ExitCode>> = {
  unauthorized: EXIT.notAuthorized,
  forbidden: EXIT.notAuthorized,
  unavailable: EXIT.unreachable,
  timeout: EXIT.unreachable,
  rate_limited: EXIT.unreachable,
  bad_answer: EXIT.unreachable,
  other_form: EXIT.unreachable,
  too_large: EXIT.unreachable,
  not_found: EXIT.notThere,
  installation_gone: EXIT.notAuthorized,
  conflict: EXIT.checkFailed,
  outcome_unknown: EXIT.checkFailed,
  invalid: EXIT.usage,
  bad_request: EXIT.usage,
  cancelled: EXIT.interrupted,
};

/** The same for those of the store; all others are a matter of settings. */
const EXIT_BY_STORE: Readonly<Record<string, ExitCode>> = {
  away: EXIT.unreachable,
  refused: EXIT.notAuthorized,
};

/** What a job's error code means for whoever waits for it. */
export function exitCodeOf(code: string): ExitCode {
  return EXIT_BY_CODE[code] ?? EXIT.checkFailed;
}

/** Known by their names, so that a quick command need not load what throws them. */
const FAULTS_OF_THE_PLACE = ['SettingsError', 'PrivateKeyError', 'DriverError', 'EvidenceError'];

export interface Explanation {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
}

/** A database that cannot be used now, and may be later. */
export function isAway(error: unknown): error is Error {
  return error instanceof Error && error.name === 'StoreError' && 'code' in error && error.code === 'away';
}

/** The one table from an error to what a person reads and a script gets. */
export function explain(error: unknown): Explanation {
  if (error instanceof CommandFault) return { exitCode: error.exitCode, lines: error.lines };
  if (!(error instanceof Error)) return { exitCode: EXIT.unexpected, lines: [String(error)] };
  const code = 'code' in error ? String(error.code) : '';
  const damage = describeDamage(error);
  if (damage !== null) return { exitCode: EXIT.unexpected, lines: damage };
  if (error.name === 'StoreError')
    return { exitCode: EXIT_BY_STORE[code] ?? EXIT.usage, lines: [error.message] };
  if (FAULTS_OF_THE_PLACE.includes(error.name) || code === 'foreign_registry')
    return { exitCode: EXIT.usage, lines: error.message.split('\n') };
  const system = describeSystemFault(error);
  if (system !== null) return { exitCode: EXIT.usage, lines: system };
  const lines = (error.stack ?? error.message).split('\n');
  return explainRegistry(error, code) ?? { exitCode: EXIT.unexpected, lines };
}

function explainRegistry(error: Error, code: string): Explanation | null {
  const exitCode = EXIT_BY_CODE[code];
  if (error.name !== 'RegistryError' || exitCode === undefined) return null;
  const candidates = 'candidates' in error && Array.isArray(error.candidates) ? error.candidates : [];
  const call = 'call' in error && typeof error.call === 'string' ? error.call : '';
  const given = code === 'bad_request' ? error.message : `The registry: ${error.message}`;
  return { exitCode, lines: [given, ...adviceFor(code, call, candidates)] };
}

/** For a sentence about a fault: without secrets, and without what may be one that stands in the wrong setting. */
export function hideSecrets(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const hide = hideValues(env);
  const mask = createMask(secretValues(env));
  return text => mask.text(hide(text));
}
