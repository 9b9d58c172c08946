import type { Fault } from '../../mirror/port.js';
import type { Column } from '../../resources/columns.js';

const NAMED_AT_MOST = 3;

export interface OwnRows<Item> {
  /** Without those that say that they are somebody else's. */
  of(items: readonly Item[]): readonly Item[];
  /** Names the rows that were left out; null where there were none. */
  flaw(): Fault | null;
}

/** Tells the rows of one read that belong to the organization from those of others that stand among them. */
export function createOwnRows<Item extends object>(
  organizationId: string,
  [name]: readonly Column<Item>[],
): OwnRows<Item> {
  const ours = organizationId.toLowerCase();
  const named: string[] = [];
  let leftOut = 0;

  function isOurs(item: Item): boolean {
    const owner = 'organizationId' in item ? item.organizationId : null;
    if (typeof owner !== 'string' || owner.toLowerCase() === ours) return true;
    leftOut += 1;
    if (named.length < NAMED_AT_MOST) named.push(`${name?.of(item)} of ${owner}`);
    return false;
  }

  return {
    of: items => items.filter(isOurs),
    flaw: () => {
      if (leftOut === 0) return null;
      const more = leftOut > named.length ? ` and ${leftOut - named.length} more` : '';
      const message = `rows of other organizations stood in the list and were left out: ${named.join(', ')}${more}`;
      return { code: 'foreign_rows', message };
    },
  };
}
