import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { HttpClient, HttpRequest } from '../http/http-types.js';
import { createArraySplitter } from '../json/array-splitter.js';
import { type ObjectParser, parseCheckedJson, toSourceObject } from '../json/json-object.js';
import { checkListOwner } from './list-owner.js';
import { pickRequestOptions, type ReadOptions } from '../read-types.js';
import type { ObservationOptions } from './paged-lists.js';
import { parseRow } from './parse-page.js';

const MAX_BATCH_ROWS = 500;
/** The maximum total length of the texts of a batch's rows. */
const MAX_BATCH_CHARACTERS = 1024 * 1024;
const BATCH_SLICE_BYTES = 64 * 1024;
/** After this many bytes the event loop gets a turn. Otherwise a body that is already buffered would block it. */
const BYTES_PER_TURN = 256 * 1024;

/** A list that the registry sends in one long response, and how to request and parse it. */
export interface BatchedList<T> {
  readonly http: HttpClient;
  readonly request: HttpRequest;
  /** The name of the array in the response. */
  readonly key: string;
  readonly parse: ObjectParser<T>;
  /** If the response names an organization, it must be this one. */
  readonly organizationId: string;
}

/**
 * Yields the rows of one streamed response in batches. If reading fails, the rows yielded so far are only the beginning of
 * the list.
 */
export async function* readBatches<T>(
  { http, request, key, parse, organizationId }: BatchedList<T>,
  options: ReadOptions & ObservationOptions = {},
): AsyncGenerator<readonly T[]> {
  const { body } = await http.stream({ ...request, ...pickRequestOptions(options) });
  const splitter = createArraySplitter(key, { allowBareArray: true });
  let rows = 0;
  let batch: T[] = [];
  let batchCharacters = 0;
  let bytesInTurn = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += BATCH_SLICE_BYTES) {
      for (const text of splitter.push(chunk.subarray(at, at + BATCH_SLICE_BYTES))) {
        const label = `${key}[${rows}]`;
        const object = toSourceObject(text, parseCheckedJson(text, label), label);
        batch.push(...parseRow(object, parse, options.onUnreadable));
        rows += 1;
        batchCharacters += text.length;
      }
      if (batch.length >= MAX_BATCH_ROWS || batchCharacters >= MAX_BATCH_CHARACTERS) {
        checkListOwner(splitter.parseEnvelopeStart(), organizationId);
        yield batch;
        batch = [];
        batchCharacters = 0;
      }
      bytesInTurn += BATCH_SLICE_BYTES;
      if (bytesInTurn >= BYTES_PER_TURN) {
        bytesInTurn = 0;
        await yieldToEventLoop();
      }
    }
  }
  const ownerId = checkListOwner(splitter.finish(), organizationId);
  options.onOwner?.(ownerId);
  if (batch.length > 0) yield batch;
}
