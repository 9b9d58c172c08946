/**
 * The HTTP client of the registry, and the only place that sends requests. It limits the rate and the number of requests,
 * sets deadlines, retries what is safe to retry, and converts every failure to a `RegistryError`. It never follows a
 * redirect, never sends a token anywhere but below the base URL, and never lets a credential into an error.
 *
 * Its parts: `send-with-retries.ts` decides on the attempts, `request-attempt.ts` times and records one,
 * `receive-response.ts` reads its body.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type RequestAttempt,
  startAttempt,
  type AttemptInput,
  type RetryableRequest,
  sendWithRetries,
} from './send-with-retries.js';
import {
  readBody,
  type OpenResponse,
  type ResponseBodyOptions,
  receiveStream,
  receiveWholeBody,
} from './receive-response.js';
import { createClockSkewMeter } from './clock-skew.js';
import type { HttpClient, HttpOptions, HttpRequest } from './http-types.js';
import { isCredential } from './credential.js';
import { RegistryError } from '../errors.js';
import { createWriteLog } from '../writes/write-log.js';
import { createLearningMask } from '../../text/mask.js';
import { createRefusalError, createCancelledError, isWriteRequest } from './http-errors.js';
import { createRequestLimiter } from './request-limiter.js';
import { parseRetryAfter } from './response-headers.js';
import { resolveHttpSettings } from './http-settings.js';
import { appendQuery, fillRoute, resolveUrl } from './url.js';

const MAX_REFUSAL_BYTES = 64 * 1024;

/** A request whose route parameters and query are already part of its URL. */
type UrlRequest = Omit<HttpRequest, 'params' | 'query'>;

interface PreparedRequest {
  readonly request: UrlRequest;
  readonly url: URL;
  readonly maxBytes: number;
  /** Time limit of the body alone. If it is null, headers and body share one deadline. */
  readonly bodyDeadlineMs: number | null;
}

/** Creates the HTTP client of one registry. All API clients of the registry share this client and its rate limit. */
export function createHttpClient(options: HttpOptions): HttpClient {
  const settings = resolveHttpSettings(options);
  const { now, random } = settings;
  const sleep = options.sleep ?? defaultSleep;
  const limiter = createRequestLimiter({ ...settings, now });
  const retryRules = { ...settings, random, sleep };
  const mask = createLearningMask(options.secrets ?? []);
  const clockSkew = createClockSkewMeter({ now, onDate: options.onDate });
  // Created here because the first use of `Headers` loads all of fetch, which would delay the first request.
  const commonHeaders = new Headers({
    [`x-${settings.headerPrefix}-api-version`]: settings.apiVersion,
    'user-agent': settings.userAgent,
  });

  /**
   * Builds the URL of a request and sets limits for its response. `bodyDeadlineMs` is null if headers and body share one
   * deadline.
   */
  function prepareRequest(
    request: HttpRequest,
    maxBytes: number,
    bodyDeadlineMs: number | null,
  ): PreparedRequest {
    const path = appendQuery(fillRoute(request.route, request.params), request.query);
    return { request, url: resolveUrl(settings.base, path), maxBytes, bodyDeadlineMs };
  }

  /**
   * Sends a request once and returns when the response headers have arrived, with the body unread. Throws a `RegistryError` for
   * an error status or a failed request.
   */
  async function openResponse(
    prepared: PreparedRequest,
    { token, attemptNumber }: AttemptInput,
  ): Promise<OpenResponse> {
    const { request, bodyDeadlineMs } = prepared;
    const attempt = await beginAttempt(request, token, attemptNumber);
    try {
      const response = await settings.fetch(prepared.url, {
        method: request.method,
        headers: createHeaders(commonHeaders, request, token),
        body: request.body ?? null,
        redirect: 'manual',
        signal: attempt.abort.signal,
      });
      attempt.recordStatus(response.status);
      clockSkew.measure(response);
      if (!response.ok) throw await readErrorResponse(request, response, attempt);
      if (bodyDeadlineMs !== null) attempt.restartDeadline(bodyDeadlineMs);
      return { response, attempt };
    } catch (error) {
      throw attempt.fail(error);
    }
  }

  /**
   * Waits until the rate limiter admits the request, then starts one attempt with its deadline. Also adds the token to the
   * secrets that messages must not show.
   */
  async function beginAttempt(
    request: UrlRequest,
    token: string,
    attemptNumber: number,
  ): Promise<RequestAttempt> {
    if (!isCredential(token))
      throw new RegistryError('bad_request', 'the credential: expected printable text');
    mask.addSecret(token);
    const releaseSlot = await limiter.acquireSlot(request.signal, request.isDownload).catch(error => {
      throw createCancelledError(request, error);
    });
    if (request.signal?.aborted === true) {
      releaseSlot();
      throw createCancelledError(request, request.signal.reason);
    }
    return startAttempt(request, {
      attemptNumber,
      deadlineMs: settings.deadlineMs,
      now,
      releaseSlot,
      onCall: options.onCall,
    });
  }

  /** Reads a response with an error status and returns the `RegistryError` for it. */
  async function readErrorResponse(request: UrlRequest, response: Response, attempt: RequestAttempt) {
    const limits = { maxBytes: MAX_REFUSAL_BYTES, abort: attempt.abort, idleMs: settings.deadlineMs };
    const body = await readBody(response, limits).catch(() => Buffer.alloc(0));
    return createRefusalError({
      status: response.status,
      call: `${request.method} ${request.route}`,
      isWrite: isWriteRequest(request),
      bodyText: body.toString('utf8'),
      headerPrefix: settings.headerPrefix,
      retryAfterMs: parseRetryAfter(response.headers.get('retry-after'), now() + (clockSkew.getMs() ?? 0)),
      mask: mask.text,
    });
  }

  /**
   * Returns the options for reading a response body: the size limit, the timeout and the check that the body does not repeat
   * `token`.
   */
  function createResponseBodyOptions(
    { request, maxBytes }: PreparedRequest,
    token: string,
  ): ResponseBodyOptions {
    return {
      maxBytes,
      idleMs: settings.deadlineMs,
      tokenLength: token.length,
      hasTokenEcho: bytes => mask.isSecretIn(token, bytes),
      createCancelledError: () => createCancelledError(request, undefined),
    };
  }

  return {
    baseUrl: settings.base.href,
    findPath: settings.findPath,
    send: request => {
      const prepared = prepareRequest(request, request.maxBytes ?? settings.maxBytes, null);
      return sendWithRetries(toRetryableRequest(request), retryRules, async input =>
        receiveWholeBody(
          await openResponse(prepared, input),
          createResponseBodyOptions(prepared, input.token),
        ),
      );
    },
    stream: request => {
      const maxBytes = request.maxBytes ?? settings.maxStreamBytes;
      const prepared = prepareRequest(request, maxBytes, settings.streamDeadlineMs);
      return sendWithRetries(toRetryableRequest(request), retryRules, async input =>
        receiveStream(await openResponse(prepared, input), createResponseBodyOptions(prepared, input.token)),
      );
    },
    clockSkewMs: clockSkew.getMs,
    mask: mask.text,
    localNow: now,
    writeLog: createWriteLog(),
    sleep,
  };
}

/** Adds the access token and the content types to the headers that all requests share. */
function createHeaders(commonHeaders: Headers, request: UrlRequest, token: string): Headers {
  const headers = new Headers(commonHeaders);
  headers.set('authorization', `Bearer ${token}`);
  headers.set('accept', request.accept ?? 'application/json');
  if (request.body !== undefined) headers.set('content-type', 'application/json');
  return headers;
}

/** Returns the properties of a request that decide whether it is retried. By default, only a GET is repeatable. */
function toRetryableRequest({ token, signal, repeatable, method }: HttpRequest): RetryableRequest {
  return { token, signal, repeatable: repeatable ?? method === 'GET' };
}

/** Waits for `ms` milliseconds. Rejects with the error `cancelled` if the signal is aborted in the meantime. */
async function defaultSleep(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(error => {
    throw new RegistryError('cancelled', 'cancelled while waiting to try again', { cause: error });
  });
}
