import { StoreError } from '../errors.js';

/** Connections, resources, a standby or a recovery, what an operator stops, a lock that others hold. */
const AWAY = /^(08|53|57P|25006|57014|55P03)/;

const REFUSED = /^(28|42501)/;
const MISSING = '3D000';

/** A fault of the statement as it came; whatever keeps every statement from being done now is `away`. */
function namedFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = 'code' in error ? String(error.code) : '';
  const isSaidByServer = 'severity' in error;
  if (isSaidByServer && REFUSED.test(code)) {
    const advice = code.startsWith('28') ? WHO : RIGHTS;
    return new StoreError('refused', `PostgreSQL refuses: ${error.message}. ${advice}`, { cause: error });
  }
  if (isSaidByServer && code === MISSING) {
    return new StoreError('missing', `${error.message}. Make it, or name another in ${NAMED}.`, {
      cause: error,
    });
  }
  if (isSaidByServer && !AWAY.test(code)) return error;
  return new StoreError('away', `PostgreSQL cannot be used now: ${error.message || code}`, {
    cause: error,
  });
}

/** Work of which every fault has its name. */
export async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw namedFault(error);
  }
}

const NAMED = 'MIRROR_DATABASE_URL (for questions QUERY_DATABASE_URL)';
const WHO = `${NAMED} names who asks, and holds their password.`;
const RIGHTS = `${NAMED} names who asks; "carbon-mirror schema --grants" prints what they need.`;

export function stateOf(error: unknown): string {
  return error instanceof Error && 'severity' in error && 'code' in error ? String(error.code) : '';
}
