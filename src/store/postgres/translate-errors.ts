import { StoreError } from '../store-error.js';

/** SQLSTATEs of lost connections, missing resources, standbys, shutdowns and lock timeouts. */
const AWAY = /^(08|53|57P|25006|57014|55P03)/;

const REFUSED = /^(28|42501)/;
const MISSING = '3D000';

/** Returns a `StoreError` for errors that every statement would get now. Returns errors of the statement itself unchanged. */
function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = 'code' in error ? String(error.code) : '';
  const isSaidByServer = 'severity' in error;
  if (isSaidByServer && REFUSED.test(code)) {
    const advice = code.startsWith('28') ? WHO : RIGHTS;
    return new StoreError('refused', `PostgreSQL refuses: ${error.message}. ${advice}`, { cause: error });
  }
  if (isSaidByServer && code === MISSING) {
    return new StoreError('missing', `${error.message}. Make it, or name another in ${SETTINGS}.`, {
      cause: error,
    });
  }
  if (isSaidByServer && !AWAY.test(code)) return error;
  return new StoreError('away', `PostgreSQL cannot be used now: ${error.message || code}`, {
    cause: error,
  });
}

/** Runs work with the driver, and throws its errors as a `StoreError` if they concern the server. */
export async function translateErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
}

const SETTINGS = 'MIRROR_DATABASE_URL (for questions QUERY_DATABASE_URL)';
const WHO = `${SETTINGS} names who asks, and holds their password.`;
const RIGHTS = `${SETTINGS} names who asks; "carbon-mirror schema --grants" prints what they need.`;

export function stateOf(error: unknown): string {
  return error instanceof Error && 'severity' in error && 'code' in error ? String(error.code) : '';
}
