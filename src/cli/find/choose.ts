import type { NameFault } from '../../query/find-named.js';
import { type CommandFault, notThereFault, usageFault } from '../exit.js';

/** The id of what was found; `advice` says where all of them are listed. */
export function demandFound(found: { readonly id: string } | NameFault, advice: string): string {
  if ('id' in found) return found.id;
  throw nameFault(found, advice);
}

/** A name that nothing has ends with 6, a name that several rows have with 2. */
export function nameFault({ fault, isMissing, candidates }: NameFault, advice: string): CommandFault {
  const lines = candidates.map(each => `  ${each}`);
  if (!isMissing) return usageFault(fault, lines);
  return notThereFault(fault, [...(lines.length === 0 ? [] : ['Near:', ...lines]), advice]);
}
