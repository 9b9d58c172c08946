import { RegistryError } from '../errors.js';

/** A registry whose pages hold fewer rows than this is not looked for. */
const LEAST_ROWS = 10;
const NAMES_A_LIMIT = /limit|page.?size|per.?page/i;

/**
 * How many rows to ask for after a refusal, or an answer that is too large: as many as it names, else half. Throws it
 * where it speaks of something else than what was sent, or where still fewer would make no sense.
 */
export function smallerPage(error: unknown, limit: number): number {
  if (!(error instanceof RegistryError) || !isOfSize(error)) throw error;
  const named = namedLimit(error.registryMessage ?? '', limit);
  if (named !== null) return named;
  if (limit > LEAST_ROWS) return Math.max(LEAST_ROWS, Math.floor(limit / 2));
  throw error;
}

function isOfSize({ code, status }: RegistryError): boolean {
  return code === 'too_large' || status === 400 || status === 422;
}

/** The largest number below the one that was refused. */
function namedLimit(message: string, refused: number): number | null {
  if (!NAMES_A_LIMIT.test(message)) return null;
  const numbers = (message.match(/\d{1,6}/g) ?? []).map(Number);
  const allowed = numbers.filter(number => number > 1 && number < refused);
  return allowed.length === 0 ? null : Math.max(...allowed);
}
