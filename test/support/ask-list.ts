import { collectRows } from '../../src/query/answer/answer.js';
import type { List } from '../../src/query/lists/list-type.js';
import { parseListRequest } from '../../src/query/lists/parse-request.js';
import { readList, type RowRange } from '../../src/query/lists/read-list.js';
import type { openFilledMirror } from './mirror/open.js';

export type FilledMirror = Awaited<ReturnType<typeof openFilledMirror>>;

interface ListQuestion {
  readonly filters?: Readonly<Record<string, string>>;
  readonly at?: string | null;
  readonly range?: RowRange;
}

/** Reads a list with filters as a person writes them. Returns the answer with its rows in an array. */
export async function askList(
  { reader, clock }: Pick<FilledMirror, 'reader' | 'clock'>,
  list: List,
  { filters = {}, at = null, range = { kind: 'all' } }: ListQuestion = {},
) {
  const request = await parseListRequest(reader, list, {
    getText: name => filters[name] ?? null,
    at,
    now: clock.at,
  });
  if ('fault' in request) throw new Error(request.fault);
  const answer = await readList(reader, request, range);
  return { ...answer, rows: await collectRows(answer.rows) };
}
