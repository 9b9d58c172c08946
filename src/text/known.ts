import { withThousands } from './thousands.js';

/** What every sum is a part of, in words. */
export function ofKnown(organizations: number): string {
  return `the ${withThousands(organizations)} known ${organizations === 1 ? 'organization' : 'organizations'}`;
}

/** A read that had not shown all by an instant. */
export function underWay({ from }: { readonly from: string }): string {
  return `a read was under way from ${from}: what it had not shown by then is left out`;
}
