import { buffer } from 'node:stream/consumers';
import { RegistryError } from '../../registry/errors.js';
import type { RawCall } from '../../registry/http/calls.js';
import { cleanText } from '../../text/clean.js';
import { escapeJson } from '../output/output.js';
import { command } from '../command.js';
import { confirm } from '../confirm.js';
import type { Client } from '../context.js';
import { usageFault } from '../exit.js';
import { emit, type Io } from '../io.js';
import { needed, text, valued, YES } from '../taken.js';
import { findInstallation } from '../find/at-registry.js';

const METHODS = ['GET', 'POST', 'DELETE'] as const;

export const API = command({
  says: "Make one call of the registry by its path, with the app's credentials",
  words: {
    method: needed(valued('method', METHODS.join(', '), readMethod)),
    path: needed(text('path', 'as in /projects?limit=10&page=0')),
  },
  options: {
    as: needed(valued('who', 'jwt, app or installation:NAME: the credential to send', readWho)),
    data: valued('json', 'the body', readJson),
    yes: { ...YES, says: 'do it without a question, where it writes' },
  },
  examples: [
    'carbon-mirror api GET "/app/installations?limit=10&page=0" --as jwt',
    'carbon-mirror api GET /organizations/ID/members --as installation:ID',
    'carbon-mirror api GET /retirements/ID/pdf --as app > certificate.pdf',
    `carbon-mirror api POST /organizations/ID/warehouse/inventory/reservations --as installation:ID --data '{"creditId":"ID","amount":1}' --yes`,
  ],
  run: async ({ io, client: open }, { method, path, as, data, yes }) => {
    const client = await open();
    const isWrite = method !== 'GET' || /\/friendbot\/?(\?|$)/i.test(path);
    if (isWrite) await confirm(io, `${method} ${path} at ${client.http.baseUrl}.`, { yes });
    const call = {
      method,
      path,
      token: await tokenOf(client, as),
      ...(data !== undefined && { body: data }),
      ...(/\/pdf(\?|$)/.test(path) && { accept: 'application/octet-stream' }),
    };
    try {
      await deliver(io, await buffer((await client.http.raw(call)).body));
    } catch (error) {
      throw withPath(error, `${method} ${path}`);
    }
  },
});

function readMethod(typed: string) {
  const method = METHODS.find(known => known === typed.toUpperCase());
  if (method !== undefined) return method;
  throw usageFault(`Expected a method of ${METHODS.join(', ')}, got "${typed}".`);
}

function readJson(typed: string): string {
  if (isJson(typed)) return typed;
  throw usageFault('--data: expected JSON.');
}

/** The digits stay as they came. */
async function deliver(io: Io, body: Buffer): Promise<void> {
  const answer = body.toString('utf8');
  const end = isJson(answer) ? '\n' : '';
  if (!io.terminal.stdout) {
    io.stdout.write(body);
    return await emit(io, end);
  }
  if (!isText(body)) throw usageFault('The answer is not text.', 'Write it into a file with > FILE.');
  await emit(io, `${isJson(answer) ? escapeJson(answer) : cleanText(answer)}${end}`);
}

/** A PDF may hold no zero byte. */
function isText(body: Buffer): boolean {
  return !body.includes(0) && !body.subarray(0, 5).equals(Buffer.from('%PDF-'));
}

function isJson(given: string): boolean {
  try {
    JSON.parse(given);
    return true;
  } catch {
    return false;
  }
}

/** The client knows calls by their routes; here the path itself tells what was asked, and what it needs. */
function withPath(error: unknown, call: string): unknown {
  if (!(error instanceof RegistryError)) return error;
  const { status, retryAfterMs, registryMessage, mayHaveHappened, candidates, answer, cause } = error;
  const details = { status, retryAfterMs, registryMessage, mayHaveHappened, candidates, answer, cause };
  return new RegistryError(error.code, error.message.replace(/^\w+ raw/, call), { ...details, call });
}

type Token = RawCall['token'];

/** What a call is made with. */
async function tokenOf(client: Client, as: string): Promise<Token> {
  if (as === 'jwt') return client.jwt;
  if (as === 'app') return client.tokens.app();
  const [, named = ''] = /^installation:(.+)$/s.exec(as) ?? [];
  return client.tokens.installation((await findInstallation(client, named)).id);
}

function readWho(typed: string): string {
  if (/^(jwt|app|installation:.+)$/s.test(typed)) return typed;
  throw usageFault(`--as: expected jwt, app or installation:NAME, got "${typed}".`);
}
