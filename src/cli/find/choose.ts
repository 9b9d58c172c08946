import type { NameFault } from '../../query/find-named.js';
import { type CommandFault, notThereFault, usageFault } from '../exit.js';

/** Returns the id of what was found; throws if nothing or several were. `advice` says where all of them are listed. */
export function demandFound(found: { readonly id: string } | NameFault, advice: string): string {
  if ('id' in found) return found.id;
  throw nameFault(found, advice);
}

/** Creates the error for an unknown name (exit code 6) or an ambiguous one (exit code 2). */
export function nameFault({ fault, isMissing, candidates }: NameFault, advice: string): CommandFault {
  const lines = candidates.map(each => `  ${each}`);
  if (!isMissing) return usageFault(fault, lines);
  return notThereFault(fault, [...(lines.length === 0 ? [] : ['Did you mean:', ...lines]), advice]);
}
