import { setImmediate as otherWork } from 'node:timers/promises';
import type { Call, Http } from '../http/calls.js';
import { createElementCutter } from '../json/elements.js';
import { parseModest, type Source, sourceOf } from '../json/fields.js';
import { readOwner } from '../owner.js';
import { observed, type ReadOptions } from '../reading.js';
import { parseRow } from './rows.js';

const BATCH_ROWS = 500;
/** Of the rows' own texts, in characters. */
const BATCH_LENGTH = 1024 * 1024;
const SLICE_BYTES = 64 * 1024;
/** After so many bytes everybody else has a turn: a buffered body would not let go of the event loop. */
const TURN_BYTES = 256 * 1024;

export interface BatchCall<T> {
  readonly http: Http;
  readonly call: Call;
  readonly key: string;
  readonly parse: (source: Source) => T;
  /** Where the answer says whose list it is, it must be this one's. */
  readonly organizationId: string;
}

/** One long answer as batches of its rows: memory stays flat however long it is. */
export async function* readBatches<T>(
  list: BatchCall<T>,
  options: ReadOptions = {},
): AsyncGenerator<readonly T[]> {
  const { http, call, key, parse, organizationId } = list;
  const { body } = await http.stream({ ...call, ...observed(options) });
  const cutter = createElementCutter(key, { bare: true });
  let rows = 0;
  let turn = 0;
  let batch: T[] = [];
  let length = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      for (const text of cutter.push(chunk.subarray(at, at + SLICE_BYTES))) {
        const what = `${key}[${rows}]`;
        batch.push(...parseRow(sourceOf(text, parseModest(text, what), what), parse, options.onUnreadable));
        rows += 1;
        length += text.length;
      }
      if (batch.length >= BATCH_ROWS || length >= BATCH_LENGTH) {
        readOwner(cutter.before(), organizationId);
        yield batch;
        batch = [];
        length = 0;
      }
      turn += SLICE_BYTES;
      if (turn >= TURN_BYTES) {
        turn = 0;
        await otherWork();
      }
    }
  }
  const owner = readOwner(cutter.end(), organizationId);
  options.onOwner?.(owner);
  if (batch.length > 0) yield batch;
}
