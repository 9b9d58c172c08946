import type { NameFault } from '../../query/find-named.js';
import { type CommandError, createNotFoundError, createUsageError } from '../command-error.js';

/** Returns the id from the result of a search by name. Throws an error with `advice` if the name was unknown or ambiguous. */
export function requireFoundId(result: { readonly id: string } | NameFault, advice: string): string {
  if ('id' in result) return result.id;
  throw createNameError(result, advice);
}

/** Creates the error for an unknown or ambiguous name. The error lists similar names. */
export function createNameError({ fault, isMissing, candidates }: NameFault, advice: string): CommandError {
  const lines = candidates.map(candidate => `  ${candidate}`);
  if (!isMissing) return createUsageError(fault, lines);
  return createNotFoundError(fault, [...(lines.length === 0 ? [] : ['Did you mean:', ...lines]), advice]);
}
