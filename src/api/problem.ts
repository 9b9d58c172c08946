import type { ServerResponse } from 'node:http';
import { sendProblem } from '../webhook/problem-response.js';

interface ProblemOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the body. */
  readonly members?: object;
}

/** The reason why a request is refused. It is answered as problem+json (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: object;

  /** `detail` is a sentence for the developer who wrote the request. It never contains a token. */
  constructor(status: number, detail: string, { headers = {}, members = {} }: ProblemOptions = {}) {
    super(detail);
    this.status = status;
    this.headers = headers;
    this.members = members;
  }

  send(response: ServerResponse): void {
    sendProblem(response, this.status, this.message, this.headers, this.members);
  }
}

/** Creates the problem of a parameter that is not of the expected form. */
export function createBadRequest(detail: string): ApiProblem {
  return new ApiProblem(400, detail);
}
