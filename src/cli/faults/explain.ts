import { hideValues, secretValues } from '../../app/config/hidden.js';
import { createMask } from '../../registry/http/mask.js';
import { CommandFault, EXIT, type ExitCode } from '../exit.js';
import { adviceFor } from './registry-advice.js';
import { describeSystemFault } from './system-fault.js';

interface Explanation {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
}

const RESTORE =
  'Stop every process of carbon-mirror, and put a backup back with "carbon-mirror restore FOLDER".';
const WHICH = 'See "carbon-mirror doctor" for which one it is.';

const asSaid = ({ message }: Error) => message.split('\n');
const damaged = ({ message }: Error) => [`A database is damaged: ${message}.`, RESTORE, WHICH];
const foreignLog = (error: Error) => {
  const file = fieldOf(error, 'file');
  const advice = `Nothing was read or written. If the file comes from a backup: stop every process of carbon-mirror, remove ${file}-wal, ${file}-shm and ${file}-journal, and try again.`;
  return [error.message, advice];
};
const byRegistry = (error: Error) => {
  const said = /^bad_request$/.test(codeOf(error)) ? error.message : `The registry: ${error.message}`;
  return [said, ...adviceFor(error)];
};

type Row = readonly [kind: RegExp, exitCode: ExitCode, lines: (error: Error) => readonly string[]];

/** What a person reads where a database cannot be believed. */
const DAMAGES: readonly Row[] = [
  [/^StoreError damaged$/, EXIT.unexpected, ({ message }) => [message, RESTORE]],
  [/ foreign_log$/, EXIT.unexpected, foreignLog],
  [/ (SQLITE_CORRUPT|SQLITE_NOTADB|damaged)/, EXIT.unexpected, damaged],
];

/** The one table from an error to what a script gets and a person reads, by its name and code: what throws it need not be loaded. The first that fits decides. */
const FAULTS: readonly Row[] = [
  ...DAMAGES,
  [/^StoreError away$/, EXIT.unreachable, asSaid],
  [/^StoreError refused$/, EXIT.notAuthorized, asSaid],
  [/^(Store|Settings|PrivateKey|Driver|Evidence)Error /, EXIT.usage, asSaid],
  [/ foreign_registry$/, EXIT.usage, asSaid],
  [/^RegistryError (unauthorized|forbidden|installation_gone)$/, EXIT.notAuthorized, byRegistry],
  [/^RegistryError (unavailable|timeout|rate_limited)$/, EXIT.unreachable, byRegistry],
  [/^RegistryError (bad_answer|other_form|too_large)$/, EXIT.unreachable, byRegistry],
  [/^RegistryError not_found$/, EXIT.notThere, byRegistry],
  [/^RegistryError (conflict|outcome_unknown)$/, EXIT.checkFailed, byRegistry],
  [/^RegistryError (invalid|bad_request)$/, EXIT.usage, byRegistry],
  [/^RegistryError cancelled$/, EXIT.interrupted, byRegistry],
];

export function explain(error: unknown): Explanation {
  if (error instanceof CommandFault) return { exitCode: error.exitCode, lines: error.lines };
  if (!(error instanceof Error)) return { exitCode: EXIT.unexpected, lines: [String(error)] };
  const known = explainBy(FAULTS, error);
  if (known !== null) return known;
  const system = describeSystemFault(error);
  if (system !== null) return { exitCode: EXIT.usage, lines: system };
  return { exitCode: EXIT.unexpected, lines: (error.stack ?? error.message).split('\n') };
}

/** Null for any other error. */
export function describeDamage(error: unknown): readonly string[] | null {
  return error instanceof Error ? (explainBy(DAMAGES, error)?.lines ?? null) : null;
}

/** What a job's error code means for whoever waits for it. */
export function exitCodeOf(code: string): ExitCode {
  return FAULTS.find(([kind]) => kind.test(`RegistryError ${code}`))?.[1] ?? EXIT.checkFailed;
}

function explainBy(table: readonly Row[], error: Error): Explanation | null {
  const [, exitCode, lines] = table.find(([kind]) => kind.test(`${error.name} ${codeOf(error)}`)) ?? [];
  return exitCode === undefined || lines === undefined ? null : { exitCode, lines: lines(error) };
}

function codeOf(error: Error): string {
  return fieldOf(error, 'code');
}

function fieldOf(error: Error, name: string): string {
  return String(Reflect.get(error, name) ?? '');
}

/** For a sentence about a fault: without secrets, and without what may be one that stands in the wrong setting. */
export function hideSecrets(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const hide = hideValues(env);
  const mask = createMask(secretValues(env));
  return text => mask.text(hide(text));
}
