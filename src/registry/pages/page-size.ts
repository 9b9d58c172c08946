import { RegistryError } from '../errors.js';

/** The smallest page size that is tried. */
const MIN_PAGE_SIZE = 10;
const MENTIONS_PAGE_SIZE = /limit|page.?size|per.?page/i;

/** Chooses a smaller page size after a request failed. Rethrows an error that the page size did not cause. */
export function chooseSmallerPageSize(error: unknown, refusedSize: number): number {
  if (!(error instanceof RegistryError) || !mayConcernPageSize(error)) throw error;
  const allowedSize = findAllowedPageSize(error.registryMessage ?? '', refusedSize);
  if (allowedSize !== null) return allowedSize;
  if (refusedSize > MIN_PAGE_SIZE) return Math.max(MIN_PAGE_SIZE, Math.floor(refusedSize / 2));
  throw error;
}

function mayConcernPageSize({ code, status }: RegistryError): boolean {
  return code === 'too_large' || status === 400 || status === 422;
}

/**
 * Finds the allowed page size in an error message: `limit must not exceed 50` → `50`. Returns null if the message names no size
 * below `refusedSize`.
 */
function findAllowedPageSize(message: string, refusedSize: number): number | null {
  if (!MENTIONS_PAGE_SIZE.test(message)) return null;
  const numbers = (message.match(/\d{1,6}/g) ?? []).map(Number);
  const possibleSizes = numbers.filter(number => number > 1 && number < refusedSize);
  return possibleSizes.length === 0 ? null : Math.max(...possibleSizes);
}
