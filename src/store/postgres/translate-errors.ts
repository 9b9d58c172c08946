import { StoreError } from '../store-error.js';

/** SQLSTATEs of lost connections, missing resources, standbys, shutdowns and lock timeouts. */
const UNAVAILABLE_CODES = /^(08|53|57P|25006|57014|55P03)/;

const REFUSED_CODES = /^(28|42501)/;
const MISSING_DATABASE = '3D000';

/** Converts an error of the server or the connection to a `StoreError`. Returns errors of a single statement unchanged. */
function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = 'code' in error ? String(error.code) : '';
  const isFromServer = 'severity' in error;
  if (isFromServer && REFUSED_CODES.test(code)) {
    const advice = code.startsWith('28') ? LOGIN_ADVICE : GRANT_ADVICE;
    return new StoreError('refused', `PostgreSQL refuses: ${error.message}. ${advice}`, { cause: error });
  }
  if (isFromServer && code === MISSING_DATABASE) {
    return new StoreError('missing', `${error.message}. Make it, or name another in ${SETTINGS}.`, {
      cause: error,
    });
  }
  if (isFromServer && !UNAVAILABLE_CODES.test(code)) return error;
  return new StoreError('away', `PostgreSQL cannot be used now: ${error.message || code}`, {
    cause: error,
  });
}

/** Runs `work`. Throws errors of the server or the connection as a `StoreError`, and errors of a single statement unchanged. */
export async function translateErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
}

const SETTINGS = 'MIRROR_DATABASE_URL (for questions QUERY_DATABASE_URL)';
const LOGIN_ADVICE = `${SETTINGS} names who asks, and holds their password.`;
const GRANT_ADVICE = `${SETTINGS} names who asks; "carbon-mirror schema --grants" prints what they need.`;

/** Returns the SQLSTATE of a server's error; empty for any other error. */
export function getSqlState(error: unknown): string {
  return error instanceof Error && 'severity' in error && 'code' in error ? String(error.code) : '';
}
