import type { Known } from '../query/history/as-of.js';
import { shortName } from '../text/clean.js';
import { checkFault } from './exit.js';
import type { Context } from './context.js';

/** Those that were known at their instant. Where several were asked for, one that was not is named and left out. */
export function demandKnown<Asked extends Pick<Known, 'unknown'>>(
  { say }: Context,
  all: readonly Asked[],
  nameOf: (asked: Asked) => string,
): Asked[] {
  const known = all.filter(({ unknown }) => unknown === null);
  const lines = all.filter(({ unknown }) => unknown !== null).map(each => `${nameOf(each)}: ${each.unknown}`);
  if (known.length === 0 && lines.length > 0) {
    throw checkFault(
      lines,
      'The mirror cannot tell what was there before its first complete read, nor what came after its last.',
    );
  }
  say(...lines);
  return known;
}

/** The same of organizations, and their ids. */
export function idsKnown(context: Context, all: readonly Known[], resource: string): string[] {
  const nameOf = ({ organizationId: id, name }: Known) => `${shortName(name ?? id)}, ${resource}`;
  return demandKnown(context, all, nameOf).map(each => each.organizationId);
}
