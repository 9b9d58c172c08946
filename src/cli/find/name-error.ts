import type { NameFault } from '../../query/find-named.js';
import { type CommandError, createNotFoundError, createUsageError } from '../exit.js';

/** Returns the id of what was found; throws if nothing or several were. `advice` says where all of them are listed. */
export function requireFoundId(found: { readonly id: string } | NameFault, advice: string): string {
  if ('id' in found) return found.id;
  throw createNameError(found, advice);
}

/** Creates the error for an unknown name (exit code 6) or an ambiguous one (exit code 2). */
export function createNameError({ fault, isMissing, candidates }: NameFault, advice: string): CommandError {
  const lines = candidates.map(each => `  ${each}`);
  if (!isMissing) return createUsageError(fault, lines);
  return createNotFoundError(fault, [...(lines.length === 0 ? [] : ['Did you mean:', ...lines]), advice]);
}
