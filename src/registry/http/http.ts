import { setTimeout as pause } from 'node:timers/promises';
import { fillRoute, resolvePath, withQuery } from './address.js';
import { withAttempts } from './attempts.js';
import { gatherBody, walkBody } from './body.js';
import { createBudget } from './budget.js';
import type { Answer, Call, Http, HttpOptions, StreamedAnswer } from './calls.js';
import { isCredential } from './credential.js';
import { RegistryError } from '../errors.js';
import { cancelled, failureOf, timedOut } from './failure.js';
import { createLedger } from '../writes/ledger.js';
import { createLearningMask } from './mask.js';
import { readFileName } from './file-name.js';
import { readHttpDate } from './http-date.js';
import { refusalOf } from './refusal.js';
import { readRetryAfter } from './retry-after.js';
import { readSettings } from '../settings.js';

const MAX_REFUSAL_BYTES = 64 * 1024;
/** A secret in a URL has at most three characters for one. */
const LONGEST_FORM = 3;

interface Prepared {
  readonly call: Omit<Call, 'params' | 'query'>;
  readonly url: URL;
  readonly maxBytes: number;
  /** For the body; the headers always have `deadlineMs`. */
  readonly bodyDeadlineMs: number | null;
}

/** One attempt whose answer has begun. */
interface Exchange {
  readonly response: Response;
  readonly abort: AbortController;
  readonly ended: (error: RegistryError | null) => void;
  readonly count: (bytes: number) => void;
}

/** The one place that calls `fetch`. All clients of one registry share one of these, and so its budget. */
export function createHttp(options: HttpOptions): Http {
  const settings = readSettings(options);
  const { now, random } = options;
  const sleep = options.sleep ?? sleepReally;
  const budget = createBudget({ ...settings, now });
  const rules = { ...settings, random, sleep };
  const mask = createLearningMask(options.secrets ?? []);
  /** Made with the client: to load what `fetch` is made of takes as long as many calls, and the first does not wait for it. */
  const ofAllCalls = new Headers({ [`x-${settings.headerPrefix}-api-version`]: settings.apiVersion });
  let skewMs: number | null = null;

  function prepare(call: Call, maxBytes: number, bodyDeadlineMs: number | null): Prepared {
    const path = withQuery(fillRoute(call.route, call.params), call.query);
    return { call, url: resolvePath(settings.base, path), maxBytes, bodyDeadlineMs };
  }

  async function begin({ call, url, bodyDeadlineMs }: Prepared, token: string): Promise<Exchange> {
    if (!isCredential(token))
      throw new RegistryError('bad_request', 'the credential: expected printable text');
    mask.learn(token);
    const release = await budget.take(call.signal, call.isDownload).catch(error => {
      throw cancelled(call, error);
    });
    if (call.signal?.aborted === true) {
      release();
      throw cancelled(call, call.signal.reason);
    }
    const startedMs = now();
    const abort = new AbortController();
    const onCancel = () => abort.abort(cancelled(call, call.signal?.reason));
    const onDeadline = () => abort.abort(timedOut(call));
    let timer = setTimeout(onDeadline, settings.deadlineMs);
    let status: number | null = null;
    let bytes = 0;
    let open = true;

    const settle = (error: RegistryError | null) => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      call.signal?.removeEventListener('abort', onCancel);
      release();
      const { method, route } = call;
      const record = { method, route, status, code: error?.code ?? null, ms: now() - startedMs, bytes };
      options.onCall?.(record);
      call.onCall?.(record);
    };

    call.signal?.addEventListener('abort', onCancel, { once: true });
    abort.signal.addEventListener('abort', () => settle(failureOf(call, abort.signal.reason, abort.signal)));
    try {
      const response = await fetch(url, {
        method: call.method,
        headers: headersOf(call, token),
        body: call.body ?? null,
        redirect: 'manual',
        signal: abort.signal,
      });
      status = response.status;
      noteDate(response);
      if (!response.ok) throw await readRefusal(call, response, abort);
      if (bodyDeadlineMs !== null) {
        clearTimeout(timer);
        timer = setTimeout(onDeadline, bodyDeadlineMs);
      }
      return { response, abort, ended: settle, count: more => (bytes += more) };
    } catch (error) {
      const failure = failureOf(call, error, abort.signal);
      settle(failure);
      throw failure;
    }
  }

  function headersOf(call: Prepared['call'], token: string): Headers {
    const headers = new Headers(ofAllCalls);
    headers.set('authorization', `Bearer ${token}`);
    headers.set('accept', call.accept ?? 'application/json');
    if (call.body !== undefined) headers.set('content-type', 'application/json');
    return headers;
  }

  /** A cache on the way answers with an `Age`, and with the time at which it stored the answer. */
  function noteDate(response: Response): void {
    const serverMs = readHttpDate(response.headers.get('date'));
    const isStored = response.headers.has('age');
    if (serverMs === null || isStored) return;
    const localMs = now();
    skewMs = serverMs - localMs;
    options.onDate?.(serverMs, localMs, response.status);
  }

  async function readRefusal(call: Prepared['call'], response: Response, abort: AbortController) {
    const limits = { maxBytes: MAX_REFUSAL_BYTES, abort, idleMs: settings.deadlineMs };
    const body = await gatherBody(response, limits).catch(() => Buffer.alloc(0));
    return refusalOf({
      status: response.status,
      call: `${call.method} ${call.route}`,
      bodyText: body.toString('utf8'),
      retryAfterMs: readRetryAfter(response.headers.get('retry-after'), now() + (skewMs ?? 0)),
      mask: mask.text,
    });
  }

  function demandNoEcho(body: Buffer, token: string): void {
    if (mask.finds(token, body))
      throw new RegistryError('bad_answer', 'the answer repeats the credential that it was asked with');
  }

  async function gather(prepared: Prepared, token: string): Promise<Answer> {
    const { response, abort, ended: settle, count } = await begin(prepared, token);
    try {
      const limits = { maxBytes: prepared.maxBytes, abort, idleMs: settings.deadlineMs };
      const body = await gatherBody(response, limits);
      count(body.length);
      demandNoEcho(body, token);
      settle(null);
      return { status: response.status, body };
    } catch (error) {
      const failure = failureOf(prepared.call, error, abort.signal);
      settle(failure);
      throw failure;
    }
  }

  async function openStream(prepared: Prepared, token: string): Promise<StreamedAnswer> {
    const { response, abort, ended: settle, count } = await begin(prepared, token);
    const limits = { maxBytes: prepared.maxBytes, abort, idleMs: settings.deadlineMs };

    async function* walk(): AsyncGenerator<Buffer> {
      try {
        let before = Buffer.alloc(0);
        for await (const chunk of walkBody(response, limits)) {
          count(chunk.length);
          before = Buffer.concat([before, chunk]);
          demandNoEcho(before, token);
          before = before.subarray(-LONGEST_FORM * token.length);
          yield chunk;
        }
      } catch (error) {
        const failure = failureOf(prepared.call, error, abort.signal);
        settle(failure);
        throw failure;
      } finally {
        settle(null);
      }
    }

    return {
      status: response.status,
      contentLength: readLength(response),
      fileName: readFileName(response.headers.get('content-disposition')),
      isWhole: isWhole(response),
      body: walk(),
      cancel: async () => abort.abort(cancelled(prepared.call, undefined)),
    };
  }

  return {
    baseUrl: settings.base.href,
    findPath: settings.findPath,
    call: call => {
      const prepared = prepare(call, call.maxBytes ?? settings.maxBytes, null);
      return withAttempts(repeatRules(call), rules, token => gather(prepared, token));
    },
    stream: call => {
      const prepared = prepare(call, call.maxBytes ?? settings.maxStreamBytes, settings.streamDeadlineMs);
      return withAttempts(repeatRules(call), rules, token => openStream(prepared, token));
    },
    clockSkewMs: () => skewMs,
    mask: mask.text,
    localNow: now,
    ledger: createLedger(),
    sleep,
  };
}

function repeatRules(call: Prepared['call']) {
  return { token: call.token, signal: call.signal, repeatable: call.repeatable ?? call.method === 'GET' };
}

function readLength(response: Response): number | null {
  const length = response.headers.get('content-length');
  const encoded = response.headers.has('content-encoding');
  return length === null || encoded || !/^\d{1,15}$/.test(length) ? null : Number(length);
}

function isWhole({ status, headers }: Response): boolean {
  const hasEnd = headers.has('content-length') || headers.get('transfer-encoding') === 'chunked';
  return status === 200 && hasEnd && !headers.has('content-range');
}

async function sleepReally(ms: number, signal?: AbortSignal): Promise<void> {
  await pause(ms, undefined, signal === undefined ? {} : { signal }).catch(error => {
    throw new RegistryError('cancelled', 'cancelled while waiting to try again', { cause: error });
  });
}
