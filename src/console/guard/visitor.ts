import type { Response } from 'express';
import type { PageToken } from './visitor-keys.js';

/** The person who sent a request. */
export interface Visitor extends PageToken {
  /** The name that the sign-in proxy sent. Null for a visitor who signed in with a link. */
  readonly name: string | null;
  /** Whether this visitor may press buttons that start work. */
  readonly mayAct: boolean;
}

/** The form field that contains the page token. */
export const PAGE_TOKEN_FIELD = 'page_token';

/** The field of `response.locals` that holds the visitor. */
const VISITOR = 'visitor';

/** A response with the visitor that the guard has stored. */
type GuardedResponse = Response<unknown, { [VISITOR]?: Visitor }>;

/** Stores the visitor of a request. The guard does this for every request that it lets pass. */
export function setVisitor(response: GuardedResponse, visitor: Visitor): void {
  response.locals[VISITOR] = visitor;
}

/** Returns the visitor of a request that has passed the guard. */
export function getVisitor(response: GuardedResponse): Visitor {
  const { [VISITOR]: visitor } = response.locals;
  if (visitor === undefined) throw new Error('this request has not passed the guard');
  return visitor;
}
