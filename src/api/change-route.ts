import type { Express, Response } from 'express';
import type { StoredToken } from '../inbox/token.js';
import { type AnswerNotes, streamOf } from '../query/answer/answer.js';
import { findOrganization } from '../query/names.js';
import { answerChanges } from '../query/history/answer-changes.js';
import { readBetween, readLastNumber } from '../query/history/changes.js';
import { MIRRORED } from '../query/lists/list-definitions.js';
import { findResourceOfTable } from '../resources/resources.js';
import type { Reader } from '../store/contract/reader.js';
import { type Change, parseChange } from '../text/describe-change.js';
import { assertHasScope, chooseOrganization } from './access.js';
import { type ApiCall, type ApiContext, createEndpoint } from './api-context.js';
import type { ChangePoller } from './change-poller.js';
import { parseLimit, parseParameters, parseWholeNumber } from './parameters.js';
import { ApiProblem, createBadRequest } from './problem.js';
import { sendJson, serializePage } from './respond.js';

const CHANGE_PARAMETERS = ['after', 'wait', 'limit', 'organization_id'];
export const MAX_WAIT_SECONDS = 60;
/** Requests that may wait at once: of one token, and of all tokens. */
const MAX_WAITS_PER_TOKEN = 100;
const MAX_WAITS = 2_000;
/** How many numbers one request looks at, so that its cost is bounded. */
const MAX_NUMBERS = 20_000;

/** Adds the route that sends numbered changes. A client may ask to wait until there is a change. */
export function addChangeRoute(app: Express, context: ApiContext, poller: ChangePoller): void {
  const waitsByToken = new Map<number, number>();

  /**
   * Calls `wait`. Until `wait` ends, counts the request as one of the waiting requests of the token. Throws a 429 problem if too many
   * requests of the token, or of all tokens, are already waiting.
   */
  async function waitWithinLimits(token: StoredToken, wait: () => Promise<void>): Promise<void> {
    const waits = waitsByToken.get(token.id) ?? 0;
    if (waits >= MAX_WAITS_PER_TOKEN || poller.size() >= MAX_WAITS)
      throw new ApiProblem(429, `At most ${MAX_WAITS_PER_TOKEN} requests of a token may wait at once.`, {
        headers: { 'retry-after': '1' },
      });
    waitsByToken.set(token.id, waits + 1);
    try {
      await wait();
    } finally {
      const left = (waitsByToken.get(token.id) ?? 1) - 1;
      if (left > 0) waitsByToken.set(token.id, left);
      else waitsByToken.delete(token.id);
    }
  }

  /** Sends the next page of changes. Waits for the next change if there is none and the client asked to wait. */
  async function sendChanges({ request, response, token }: ApiCall): Promise<void> {
    assertHasScope(token, 'changes');
    const parameters = parseParameters(request, CHANGE_PARAMETERS);
    const organization = chooseOrganization(token, parameters);
    const limit = parseLimit(parameters);
    const first = parseWholeNumber(parameters, 'after') ?? 0;
    const waitSeconds = parseWholeNumber(parameters, 'wait', { max: MAX_WAIT_SECONDS }) ?? 0;
    const deadline = context.now() + waitSeconds * 1000;
    const signal = createCloseSignal(response);
    for (let after = first; ; ) {
      const page = await context.readers.withReader(reader =>
        readChangePage(reader, { after, limit, organization, token }),
      );
      const leftMs = deadline - context.now();
      if (page.changes.length > 0 || page.next < page.last || leftMs <= 0 || signal.aborted)
        return await sendJson(request, response, await serializeChanges(page));
      after = page.next;
      await waitWithinLimits(token, () => poller.waitForChange(page.last, leftMs, signal));
    }
  }

  app.get('/v1/changes', createEndpoint(context, sendChanges));
}

interface ChangePage {
  readonly notes: AnswerNotes;
  readonly changes: readonly Change[];
  /** The value of `after` with which the next page starts. */
  readonly next: number;
  /** The number of the newest change. */
  readonly last: number;
}

interface ChangePageRequest {
  readonly after: number;
  readonly limit: number;
  readonly organization: string | null;
  readonly token: StoredToken;
}

/**
 * Reads a page of the changes that the token may read, from the first change whose number is greater than `after`. Throws a 400
 * problem if `after` is greater than the number of the newest change.
 */
async function readChangePage(
  reader: Reader,
  { after, limit, organization, token }: ChangePageRequest,
): Promise<ChangePage> {
  const last = await readLastNumber(reader);
  if (after > last)
    throw createBadRequest(
      `after: expected at most ${last}, the number of the newest change. A higher number is from another mirror, or from one that was rebuilt: start over with after=0.`,
    );
  const organizationId = organization === null ? null : await findOrganizationId(reader, organization);
  const resources = listResources(token);
  const to = Math.min(last, after + MAX_NUMBERS);
  const changes: Change[] = [];
  const range = { organizationId, resource: null, since: null, until: null };
  // Its rows are not read, because they have no end.
  const notes = await answerChanges(reader, range, after);
  for await (const row of readBetween(reader, range, after, to)) {
    if (resources.includes(row.resource)) changes.push(parseChange(row));
    if (changes.length >= limit) return { notes, changes, next: row.number, last };
  }
  return { notes, changes, next: to, last };
}

/** Finds an organization by its id, its name or a part of either. Throws a 400 problem unless exactly one matches. */
export async function findOrganizationId(reader: Reader, text: string): Promise<string> {
  const found = await findOrganization(reader, text);
  if ('id' in found) return found.id;
  throw createBadRequest(`organization_id: ${found.fault}`);
}

/** Returns the resources whose changes a token may read: those of the lists that the token may read. */
function listResources({ lists }: StoredToken): string[] {
  return MIRRORED.filter(({ name }) => lists.includes(name)).flatMap(({ entry }) =>
    entry === null ? [] : findResourceOfTable(entry),
  );
}

async function serializeChanges({ notes, changes, next, last }: ChangePage): Promise<string> {
  return await serializePage({ ...notes, rows: streamOf(changes) }, { next, last });
}

/** Returns a signal that is aborted when the client disconnects. */
function createCloseSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  // A response behind another one on a connection emits no `close`, so the socket is watched.
  const { socket } = response.req;
  const abort = (): void => controller.abort();
  socket.once('close', abort);
  response.once('finish', () => socket.off('close', abort));
  return controller.signal;
}
