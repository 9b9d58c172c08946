import { createValueMasker, listSecretValues } from '../../app/config/secret-values.js';
import { createMask } from '../../text/mask.js';
import { EXIT, type ExitCode } from '../exit.js';
import { CommandError } from '../command-error.js';
import { adviseOnRegistryError } from './registry-advice.js';
import { explainSystemError } from './explain-system-error.js';

/** How a command ends because of an error: its exit code, and the lines for stderr. */
interface ErrorExplanation {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
}

const RESTORE_ADVICE =
  'Stop every process of carbon-mirror, then run "carbon-mirror restore FOLDER" with a backup.';
const DOCTOR_ADVICE = 'Run "carbon-mirror doctor" to see which one.';

/** Returns the lines of an error's message. */
const splitMessage = ({ message }: Error) => message.split('\n');
const describeDamagedDatabase = ({ message }: Error) => [
  `A database is damaged: ${message}.`,
  RESTORE_ADVICE,
  DOCTOR_ADVICE,
];
const describeRegistryError = (error: Error) => {
  /** A bad request was refused before it was sent, so the registry has said nothing. */
  const isFromRegistry = getErrorCode(error) !== 'bad_request';
  const message = isFromRegistry ? `The registry: ${error.message}` : error.message;
  return [message, ...adviseOnRegistryError(error)];
};

/** Explains errors whose name and code, such as `RegistryError timeout`, match a pattern. */
type ErrorRule = readonly [
  pattern: RegExp,
  exitCode: ExitCode,
  describeError: (error: Error) => readonly string[],
];

/** Rules for errors of damaged databases. */
const DAMAGE_RULES: readonly ErrorRule[] = [
  [/^StoreError damaged$/, EXIT.unexpected, ({ message }) => [message, RESTORE_ADVICE]],
  [/ (SQLITE_CORRUPT|SQLITE_NOTADB|damaged)/, EXIT.unexpected, describeDamagedDatabase],
];

/** All rules; the first match applies. They match names and codes so that no module that throws such errors must be loaded. */
const ERROR_RULES: readonly ErrorRule[] = [
  ...DAMAGE_RULES,
  [/^StoreError away$/, EXIT.unreachable, splitMessage],
  [/^StoreError refused$/, EXIT.notAuthorized, splitMessage],
  [/^(Store|Settings|PrivateKey|Driver|Evidence)Error /, EXIT.usage, splitMessage],
  [/ foreign_registry$/, EXIT.usage, splitMessage],
  [/^RegistryError (unauthorized|forbidden|installation_gone)$/, EXIT.notAuthorized, describeRegistryError],
  [/^RegistryError (unavailable|timeout|rate_limited)$/, EXIT.unreachable, describeRegistryError],
  [/^RegistryError (bad_answer|other_form|too_large)$/, EXIT.unreachable, describeRegistryError],
  [/^RegistryError not_found$/, EXIT.notFound, describeRegistryError],
  [/^RegistryError (conflict|outcome_unknown)$/, EXIT.checkFailed, describeRegistryError],
  [/^RegistryError (invalid|bad_request)$/, EXIT.usage, describeRegistryError],
  [/^RegistryError cancelled$/, EXIT.interrupted, describeRegistryError],
];

/** Converts any error to an exit code and lines for the user. */
export function explainError(error: unknown): ErrorExplanation {
  if (error instanceof CommandError) return { exitCode: error.exitCode, lines: error.lines };
  if (!(error instanceof Error)) return { exitCode: EXIT.unexpected, lines: [String(error)] };
  const explanation = findExplanation(ERROR_RULES, error);
  if (explanation !== null) return explanation;
  const systemErrorLines = explainSystemError(error);
  if (systemErrorLines !== null) return { exitCode: EXIT.usage, lines: systemErrorLines };
  // Only an unexpected error shows a stack trace.
  return { exitCode: EXIT.unexpected, lines: (error.stack ?? error.message).split('\n') };
}

/** Returns lines that explain the error of a damaged database. Returns null for any other error. */
export function describeDatabaseDamage(error: unknown): readonly string[] | null {
  return error instanceof Error ? (findExplanation(DAMAGE_RULES, error)?.lines ?? null) : null;
}

/** Returns the exit code for a command whose job failed. `code` is the error code of the job. */
export function getExitCodeOfJobError(code: string): ExitCode {
  const rule = ERROR_RULES.find(([pattern]) => pattern.test(`RegistryError ${code}`));
  return rule?.[1] ?? EXIT.checkFailed;
}

/** Explains an error with the first matching rule. Returns null if no rule matches. */
function findExplanation(rules: readonly ErrorRule[], error: Error): ErrorExplanation | null {
  const rule = rules.find(([pattern]) => pattern.test(`${error.name} ${getErrorCode(error)}`));
  if (rule === undefined) return null;
  const [, exitCode, describeError] = rule;
  return { exitCode, lines: describeError(error) };
}

function getErrorCode(error: Error): string {
  return getErrorField(error, 'code');
}

/** Returns a property of an error as text. Returns an empty text if the property is missing. */
function getErrorField(error: Error, name: string): string {
  return String(Reflect.get(error, name) ?? '');
}

/** Creates a function that masks the secret settings wherever a text contains them. */
export function createSecretMask(
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const hide = createValueMasker(env);
  const mask = createMask(listSecretValues(env));
  return text => mask.text(hide(text));
}
