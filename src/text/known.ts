import { counted } from './counted.js';

/** What every sum is a part of, in words. */
export function ofKnown(organizations: number): string {
  return `the ${counted(organizations, 'known organization')}`;
}
