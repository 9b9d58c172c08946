/**
 * older: its schema is yet to be migrated. schema: it is a newer program's, or of one that was never released. foreign: a schema of that name belongs to somebody else. encoding: not UTF8.
 * unfinished: files are being moved into it. used: files cannot be moved into it.
 * refused: whoever the address names may not do this. missing: there is no such database.
 * away: it cannot be reached, is starting, in recovery, out of connections or too slow; the same may work later.
 */
export type PostgresErrorCode =
  | 'older'
  | 'schema'
  | 'unfinished'
  | 'used'
  | 'foreign'
  | 'encoding'
  | 'refused'
  | 'missing'
  | 'away';

export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  readonly code: PostgresErrorCode;

  constructor(code: PostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Connections, resources, a standby or a recovery, what an operator stops, a lock that others hold. */
const AWAY = /^(08|53|57P|25006|57014|55P03)/;

const REFUSED = /^(28|42501)/;
const MISSING = '3D000';

/** A fault of the statement as it came; whatever keeps every statement from being done now is `away`. */
function namedFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof PostgresError) return error;
  const code = 'code' in error ? String(error.code) : '';
  const isSaidByServer = 'severity' in error;
  if (isSaidByServer && REFUSED.test(code)) {
    const advice = code.startsWith('28') ? WHO : RIGHTS;
    return new PostgresError('refused', `PostgreSQL refuses: ${error.message}. ${advice}`, { cause: error });
  }
  if (isSaidByServer && code === MISSING) {
    return new PostgresError('missing', `${error.message}. Make it, or name another in ${NAMED}.`, {
      cause: error,
    });
  }
  if (isSaidByServer && !AWAY.test(code)) return error;
  return new PostgresError('away', `PostgreSQL cannot be used now: ${error.message || code}`, {
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
