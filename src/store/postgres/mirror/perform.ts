import { MIRROR_ERROR_CODES, MirrorError } from '../../../mirror/errors.js';
import { performSteps, type Query } from '../open.js';

/** Steps of one transaction on the mirror: see `perform_steps` in its migrations. */
export type Perform = <Answer>(
  statements: readonly string[],
  given: Readonly<Record<string, unknown>>,
  rows?: readonly unknown[],
) => Promise<Answer>;

export function createPerform(query: Query): Perform {
  return async (statements, values, rows) => {
    try {
      return await performSteps(query, 'mirror', statements, { given: values, ...(rows && { rows }) });
    } catch (error) {
      throw refusalIn(error) ?? error;
    }
  };
}

/** What a step refused, in the mirror's words; null for any other fault. */
function refusalIn(error: unknown): MirrorError | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'CM001') return null;
  const code = MIRROR_ERROR_CODES.find(each => each === error.message);
  if (code === undefined || !('detail' in error)) return null;
  const { message } = JSON.parse(String(error.detail));
  return new MirrorError(code, message, { cause: error });
}

/** A value that the caller gave to the steps. */
export function given(name: string, type = 'text'): string {
  return `($1 ->> '${name}')::${type}`;
}

/** A value that a step before has answered. */
export function known(name: string, type = 'text'): string {
  return `($2 ->> '${name}')::${type}`;
}
