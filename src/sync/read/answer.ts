import type { Answer } from '../../mirror/port.js';
import { RegistryError } from '../../registry/errors.js';

/** What came of a read whose answers were all good. */
export function goodAnswer(
  plain: 'object' | 'list',
  {
    total,
    status,
    at,
  }: { readonly total: number | null; readonly status: number | null; readonly at: number },
): Answer | null {
  if (status === null) return null;
  return { status, form: total === null ? plain : 'pages', at, text: null };
}

/** What came of one that failed; null where it did not fail for its answer. */
export function badAnswer(
  error: unknown,
  { status, at, mask }: { status: number | null; at: number; mask: (text: string) => string },
): Answer | null {
  if (!(error instanceof RegistryError)) return null;
  if (status !== null && error.answer !== null) {
    return { status, at, form: error.answer.form, text: mask(error.answer.text) };
  }
  if (error.status !== null) return { status: error.status, form: 'none', at, text: null };
  if (status === null || error.code !== 'bad_answer') return null;
  return { status, form: 'unusable', at, text: null };
}
