import type { Request, RequestHandler, Response } from 'express';
import { parseTimeRange } from '../text/time-range.js';
import { AS_OF, withQuery } from './components/as-of.js';
import { ORIGIN } from './guard/guard.js';
import { getVisitor, type Visitor } from './guard/visitor.js';
import type {
  CertificateFileAccess,
  ConsolePage,
  PageEnvironment,
  PageFault,
  ConsoleRequest,
  PageResult,
} from './page.js';
import type { ReaderPool } from './reader-pool.js';
import { type Responder, getPathParameters } from './responder.js';

export interface PageHandlerOptions {
  readonly environment: PageEnvironment;
  readonly readers: ReaderPool;
  readonly responder: Responder;
  readonly certificateFiles: CertificateFileAccess;
  /** False if the whole console is read-only. */
  readonly canAct: boolean;
  /** False if nobody may place orders. */
  readonly allowsOrders: boolean;
  readonly isDemo: boolean;
  readonly now: () => number;
}

/** Downloads are not redirected: programs expect the rows in the first answer. */
const IS_FILE = /\.(csv|json)$/;

/** Creates the request handler of a page, which checks the URL and renders the page. */
export function createPageHandler(page: ConsolePage, options: PageHandlerOptions): RequestHandler {
  const { environment, readers, responder, certificateFiles, canAct, allowsOrders, isDemo, now } = options;
  const hasHistory = page.hasHistory === true;

  /** Creates the request object that the `render` function of a page receives. */
  function createPageRequest(
    request: Request,
    { mayAct, pageToken }: Visitor,
    parsed: Pick<ConsoleRequest, 'reader' | 'query' | 'at'>,
  ): ConsoleRequest {
    return {
      ...environment,
      ...parsed,
      canAct: canAct && mayAct,
      canOrder: canAct && allowsOrders && mayAct,
      pageToken,
      isDemo,
      now: now(),
      inspectFile: certificateFiles.inspectFile,
      params: getPathParameters(request),
      origin: `${request.protocol}://${request.headers.host ?? ''}`,
    };
  }

  /**
   * Sends the result of a page: HTML, a file, a redirect or an error message. `at` is the past instant that the page shows,
   * or null for now.
   */
  async function sendResult(
    request: Request,
    response: Response,
    result: PageResult,
    at: string | null,
  ): Promise<void> {
    if ('location' in result) response.redirect(303, result.location);
    else if ('missing' in result) await responder.sendMessage(request, response, 404, result.missing);
    else if ('fault' in result) await responder.sendMessage(request, response, 400, result.fault);
    else if ('text' in result) await responder.sendFile(response, result);
    else {
      const history = hasHistory ? { at, now: new Date(now()).toISOString() } : null;
      await responder.sendPage(request, response, result, { history });
    }
  }

  return async (request, response) => {
    const { searchParams: query } = new URL(request.url, ORIGIN);
    const invalid = findUnknownParameter(query, page) ?? findNulCharacter(request, query);
    if (invalid !== null) return await responder.sendMessage(request, response, 400, invalid.fault);
    const parsed = hasHistory ? parseAsOf(query, now()) : { at: null };
    if ('fault' in parsed) {
      // The page has the form with the typed text, so that the visitor can correct it.
      const history = {
        at: null,
        now: new Date(now()).toISOString(),
        invalidText: query.get(AS_OF) ?? '',
      };
      return await responder.sendMessage(request, response, 400, parsed.fault, history);
    }
    const { at } = parsed;
    // Redirect a range such as a day to its last instant, so that the URL names the instant that is shown.
    if (at !== null && query.get(AS_OF) !== at && !IS_FILE.test(request.path))
      return response.redirect(303, withQuery(request.path, query, { [AS_OF]: at }));
    return await readers.withReader(async reader => {
      if (response.destroyed) return;
      const result = await page.render(
        createPageRequest(request, getVisitor(response), { reader, query, at }),
      );
      await sendResult(request, response, result, at);
    });
  };
}

/** Returns an error for the visitor if the URL has a parameter that the page does not accept. Otherwise returns null. */
function findUnknownParameter(
  query: URLSearchParams,
  { parameters = [], hasHistory }: ConsolePage,
): PageFault | null {
  const known = hasHistory === true ? [...parameters, AS_OF] : parameters;
  // Ignoring an unknown parameter would answer a different question.
  const unknown = [...query.keys()].find(name => !known.includes(name));
  if (unknown === undefined) return null;
  const problem = unknown === AS_OF ? 'This page has no history view.' : `Unknown parameter “${unknown}”.`;
  const accepted =
    known.length === 0 ? 'This page accepts no parameters.' : `Parameters: ${known.join(', ')}.`;
  return { fault: `${problem} ${accepted}` };
}

/**
 * Returns an error for the visitor if the value of a query or path parameter contains U+0000, which PostgreSQL cannot store.
 * Otherwise returns null.
 */
function findNulCharacter(request: Request, query: URLSearchParams): PageFault | null {
  const values = [...query.values(), ...Object.values(getPathParameters(request))];
  return values.some(value => value.includes('\0'))
    ? { fault: 'A URL cannot contain the character U+0000.' }
    : null;
}

/**
 * Parses the URL parameter `as-of`; null if the URL has none. For a range such as a day, returns the last instant of the
 * range.
 */
function parseAsOf(query: URLSearchParams, now: number): { readonly at: string | null } | PageFault {
  const text = query.get(AS_OF) || null;
  if (text === null) return { at: null };
  const range = parseTimeRange(text, now);
  return 'fault' in range ? range : { at: range.until };
}
