import { counted } from './counted.js';

/** What every sum is a part of, in words. */
export function ofKnown(organizations: number): string {
  return `the ${counted(organizations, 'known organization')}`;
}

/** A read that had not shown all by an instant. */
export function underWay({ from }: { readonly from: string }): string {
  return `a read was under way from ${from}: what it had not shown by then is left out`;
}
