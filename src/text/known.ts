import { withThousands } from './thousands.js';

/** What every sum is a part of, in words. */
export function ofKnown(organizations: number): string {
  return `${withThousands(organizations)} ${organizations === 1 ? 'organization' : 'organizations'} known`;
}
